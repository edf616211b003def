// Parses a command line with node:util's parseArgs and checks it against the command's declaration.
import { parseArgs } from "node:util";
import { nearest } from "../../model/names/did-you-mean.ts";
import { type Command, commonOptions, type Invocation, type Option, type ParsedOptions } from "./command.ts";
import { type CommandError, usageError } from "./command-error.ts";

type Token = NonNullable<ReturnType<typeof parseArgs<{ tokens: true; strict: false }>>["tokens"]>[number];
type Options = Readonly<Record<string, Option>>;

export interface CommandLine {
  /** All positional arguments before `--`; the first words name the command. */
  readonly words: readonly string[];
  readonly wantsHelp: boolean;
  readonly wantsVersion: boolean;
  /** Returns the arguments without the first `count` words. */
  withoutWords(count: number): string[];
}

/** Finds the command's words. Only common options are known yet; they may precede the words. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const tokens = tokenize(args, commonOptions);
  const end = tokens.find(({ kind }) => kind === "option-terminator")?.index ?? args.length;
  const words = tokens.filter((token) => token.kind === "positional" && token.index < end);
  const has = (name: string) => tokens.some((token) => token.kind === "option" && token.name === name);
  return {
    words: words.map((token) => (token.kind === "positional" ? token.value : "")),
    wantsHelp: has("help") || has("h"),
    wantsVersion: has("version") || has("v"),
    withoutWords(count) {
      const taken = new Set(words.slice(0, count).map(({ index }) => index));
      return args.filter((_, index) => !taken.has(index));
    },
  };
}

export type ParsedArguments = Pick<Invocation, "parameters" | "options">;

/** Parses the arguments after the command's name; throws a usage error at the first mistake. */
export function readArguments(path: string, command: Command, args: readonly string[]): ParsedArguments {
  const declaredOptions: Options = { ...commonOptions, ...command.options };
  const repeatableNames = new Set(
    Object.keys(declaredOptions).filter((name) => declaredOptions[name]!.repeatable),
  );
  if (command.configs === "many") repeatableNames.add("config");

  const parameters: string[] = [];
  const values = new Map<string, string[]>();
  for (const token of tokenize(args, declaredOptions)) {
    if (token.kind === "positional") parameters.push(token.value);
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(declaredOptions, token.name) ? declaredOptions[token.name] : undefined;
    if (option === undefined) throw unknownOption(path, token.rawName, Object.keys(declaredOptions));
    const previous = values.get(token.name) ?? [];
    if (previous.length > 0 && !repeatableNames.has(token.name)) {
      throw usageError(`${token.rawName} was given more than once.`, `Usage: ${usageLine(path, command)}`);
    }
    values.set(token.name, [...previous, optionValue(token, option)]);
  }
  checkParameterCount(path, command, parameters);
  return { parameters, options: createParsedOptions(declaredOptions, values) };
}

const maxShortLength = 100;

function tokenize(args: readonly string[], options: Options): Token[] {
  const end = args.indexOf("--");
  // Refuse long words after a single dash: parsing every letter as an option would be slow.
  const long = args.find(
    (arg, i) => (end === -1 || i < end) && arg.length > maxShortLength && /^-[^-]/.test(arg),
  );
  if (long !== undefined) throw usageError(`There is no option ${long.slice(0, maxShortLength)}…`);
  const described = Object.entries(options).map(
    ([name, { value, short = name === "help" ? "h" : undefined }]) => {
      const type: "string" | "boolean" = value === undefined ? "boolean" : "string";
      return [name, { type, multiple: true, ...(short === undefined ? {} : { short }) }] as const;
    },
  );
  return parseArgs({
    args: [...args],
    options: Object.fromEntries(described),
    allowPositionals: true,
    strict: false,
    tokens: true,
  }).tokens;
}

/** Returns the value of an option, or "" for a flag. */
function optionValue(token: Token & { kind: "option" }, option: Option): string {
  const { rawName, value, inlineValue } = token;
  if (option.value === undefined) {
    if (value !== undefined) throw usageError(`${rawName} takes no value, but "${value}" was given.`);
    return "";
  }
  if (value === undefined) throw usageError(`${rawName} needs a value: ${rawName} ${option.value}`);
  // A value that starts with a dash is usually the next option: the user forgot the value.
  if (inlineValue === false && value.startsWith("-") && value !== "-") {
    throw usageError(
      `${rawName} needs a value, but "${value}" follows.`,
      `If that is the value, write ${rawName}=${value}`,
    );
  }
  return value;
}

function unknownOption(path: string, rawName: string, names: readonly string[]): CommandError {
  const suggestion = nearest(rawName.replace(/^-+/, ""), names);
  return usageError(`store ${path} has no option ${rawName}.`, [
    ...(suggestion === undefined ? [] : [`Did you mean --${suggestion}?`]),
    `List its options: store ${path} --help`,
  ]);
}

function createParsedOptions(
  declaredOptions: Options,
  values: ReadonlyMap<string, readonly string[]>,
): ParsedOptions {
  const texts = (name: string) => {
    if (!Object.hasOwn(declaredOptions, name)) throw new Error(`The option --${name} is not declared.`);
    return values.get(name) ?? [];
  };
  return { texts, text: (name) => texts(name)[0], flag: (name) => texts(name).length > 0 };
}

interface ParameterCount {
  /** Names of the parameters. */
  readonly names: readonly string[];
  readonly min: number;
  readonly max: number;
}

/** Returns the positional words of each usage form, such as `get` and `<bucket>`. */
export function parameterForms(usage: readonly string[]): string[][] {
  return usage.map((form) =>
    form
      .replaceAll(/\[-[^\]]*\](\.\.\.)?/g, "")
      .replaceAll(/(?<!\S)--\S+( [A-Z]+)?/g, "")
      .split(/\s+/)
      .filter((word) => word !== ""),
  );
}

function parseParameterCount(usage: readonly string[]): ParameterCount {
  const forms = parameterForms(usage);
  const maxCounts = forms.map((words) =>
    words.at(-1)?.endsWith("...") ? Number.POSITIVE_INFINITY : words.length,
  );
  const minCounts = forms.map((words) => words.filter((word) => !word.startsWith("[")).length);
  // The first form with enough words: it is the most common one.
  const min = Math.min(...minCounts);
  const names = forms.find((words) => words.length >= min) ?? [];
  return { names, min, max: Math.max(...maxCounts) };
}

/** Returns the first words of the forms if all of them are verbs. */
function findVerbs(usage: readonly string[]): string[] {
  const words = [...new Set(parameterForms(usage).map(([word]) => word ?? ""))];
  return words.every((word) => /^[a-z]+$/.test(word)) ? words : [];
}

function checkParameterCount(path: string, command: Command, parameters: readonly string[]): void {
  const { names, min, max } = parseParameterCount(command.usage);
  const usage = `Usage: ${usageLine(path, command)}`;
  if (parameters.length < min) {
    const verbs = parameters.length === 0 ? findVerbs(command.usage) : [];
    const missing = names.slice(parameters.length, min).map((name) => name.replace(/\.\.\.$/, ""));
    const what = verbs.length === 0 ? missing.join(" and ") : `one of: ${verbs.join(", ")}`;
    throw usageError(`store ${path} needs ${what}.`, [usage, exampleLine(command)]);
  }
  if (parameters.length > max) {
    const extra = parameters.slice(max).map((parameter) => `"${parameter}"`);
    const quote = "Put a name with spaces in quotes.";
    throw usageError(`store ${path} does not expect ${extra.join(" ")}.`, [usage, quote]);
  }
}

function usageLine(path: string, command: Command): string {
  return `store ${path} ${command.usage[0]}`.trimEnd();
}

function exampleLine(command: Command): string {
  return `For example: ${command.examples[0]}`;
}

/**
 * Returns the function of a verb, such as "add" in `store bucket notify add`. `others` are verbs
 * that the caller handles if a bucket follows.
 */
export function findVerb<Verb>(
  verbs: Readonly<Record<string, Verb>>,
  path: string,
  verb: string,
  others: readonly string[] = [],
): Verb {
  if (Object.hasOwn(verbs, verb)) return verbs[verb]!;
  if (others.includes(verb)) throw usageError(`store ${path} ${verb} needs a bucket.`);
  const names = [...Object.keys(verbs), ...others];
  throw usageError(`There is no "store ${path} ${verb}".`, `Use one of: ${names.join(", ")}`);
}
