// Reads a command line: which command is meant, and what it is given, checked against what the command
// declares. node:util's parseArgs cuts it into pieces; the words for what is wrong are ours.
import { parseArgs } from "node:util";
import { nearest } from "../../model/did-you-mean.ts";
import { type Command, commonOptions, type GivenOptions, type Option } from "./command.ts";
import { type CommandError, usageError } from "./command-error.ts";

type Token = NonNullable<ReturnType<typeof parseArgs<{ tokens: true; strict: false }>>["tokens"]>[number];
type Options = Readonly<Record<string, Option>>;

export interface CommandLine {
  /** The words of the command, at most as many as were asked for. */
  readonly words: readonly string[];
  readonly wantsHelp: boolean;
  readonly wantsVersion: boolean;
  /** The arguments without the first of its words. */
  without(count: number): string[];
}

/** A first look, before it is known which options there are: the words, wherever common options stand. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const tokens = tokensOf(args, commonOptions);
  const end = tokens.find(({ kind }) => kind === "option-terminator")?.index ?? args.length;
  const words = tokens.filter((token) => token.kind === "positional" && token.index < end);
  const has = (name: string) => tokens.some((token) => token.kind === "option" && token.name === name);
  return {
    words: words.map((token) => (token.kind === "positional" ? token.value : "")),
    wantsHelp: has("help") || has("h"),
    wantsVersion: has("version"),
    without(count) {
      const taken = new Set(words.slice(0, count).map(({ index }) => index));
      return args.filter((_, index) => !taken.has(index));
    },
  };
}

export interface Given {
  readonly parameters: readonly string[];
  readonly options: GivenOptions;
}

/** Everything behind the command's words; throws a usage error at the first thing that is wrong. */
export function readArguments(path: string, command: Command, args: readonly string[]): Given {
  const known: Options = { ...commonOptions, ...command.options };
  const many = new Set(Object.keys(known).filter((name) => known[name]!.repeatable));
  if (command.configs === "many") many.add("config");

  const parameters: string[] = [];
  const values = new Map<string, string[]>();
  for (const token of tokensOf(args, known)) {
    if (token.kind === "positional") parameters.push(token.value);
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
    if (option === undefined) throw unknownOption(path, token.rawName, Object.keys(known));
    const before = values.get(token.name) ?? [];
    if (before.length > 0 && !many.has(token.name)) {
      throw usageError(
        `${token.rawName} is given more than once.`,
        `Give it once: ${usageLine(path, command)}`,
      );
    }
    values.set(token.name, [...before, optionValue(token, option)]);
  }
  checkCount(path, command, parameters);
  return { parameters, options: givenOptions(known, values) };
}

const longestShort = 100;

function tokensOf(args: readonly string[], options: Options): Token[] {
  const end = args.indexOf("--");
  // Each letter behind one dash is an option to the parser, and it takes its time with many.
  const long = args.find(
    (arg, i) => (end === -1 || i < end) && arg.length > longestShort && /^-[^-]/.test(arg),
  );
  if (long !== undefined) throw usageError(`There is no option ${long.slice(0, longestShort)}…`);
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

/** The text of an option, or "" for a flag. */
function optionValue(token: Token & { kind: "option" }, option: Option): string {
  const { rawName, value, inlineValue } = token;
  if (option.value === undefined) {
    if (value !== undefined) throw usageError(`${rawName} takes no value, but "${value}" is given.`);
    return "";
  }
  if (value === undefined) throw usageError(`${rawName} needs a value: ${rawName} ${option.value}`);
  // What begins with a dash is far more often a forgotten value than one.
  if (inlineValue === false && value.startsWith("-") && value !== "-") {
    throw usageError(
      `${rawName} needs a value, but "${value}" follows.`,
      `Should that be the value, write ${rawName}=${value}`,
    );
  }
  return value;
}

function unknownOption(path: string, rawName: string, names: readonly string[]): CommandError {
  const meant = nearest(rawName.replace(/^-+/, ""), names);
  return usageError(`store ${path} has no option ${rawName}.`, [
    ...(meant === undefined ? [] : [`Did you mean --${meant}?`]),
    `All its options: store ${path} --help`,
  ]);
}

function givenOptions(known: Options, values: ReadonlyMap<string, readonly string[]>): GivenOptions {
  const texts = (name: string) => {
    if (!Object.hasOwn(known, name)) throw new Error(`The option --${name} is not declared.`);
    return values.get(name) ?? [];
  };
  return { texts, text: (name) => texts(name)[0], flag: (name) => texts(name).length > 0 };
}

interface Count {
  /** As the fullest form names them. */
  readonly names: readonly string[];
  readonly least: number;
  readonly most: number;
}

function countOf(usage: readonly string[]): Count {
  const forms = usage.map((form) =>
    form
      .replaceAll(/\[-[^\]]*\](\.\.\.)?/g, "")
      .replaceAll(/(?<!\S)--\S+( [A-Z]+)?/g, "")
      .split(/\s+/)
      .filter((word) => word !== ""),
  );
  const most = forms.map((words) =>
    words.at(-1)?.endsWith("...") ? Number.POSITIVE_INFINITY : words.length,
  );
  const least = forms.map((words) => words.filter((word) => !word.startsWith("[")).length);
  const names = forms.reduce((a, b) => (b.length > a.length ? b : a));
  return { names, least: Math.min(...least), most: Math.max(...most) };
}

function checkCount(path: string, command: Command, parameters: readonly string[]): void {
  const { names, least, most } = countOf(command.usage);
  const usage = `Usage: ${usageLine(path, command)}`;
  if (parameters.length < least) {
    const missing = names.slice(parameters.length, least).map((name) => name.replace(/\.\.\.$/, ""));
    throw usageError(`store ${path} needs ${missing.join(" and ")}.`, [usage, exampleLine(command)]);
  }
  if (parameters.length > most) {
    const extra = parameters.slice(most).map((parameter) => `"${parameter}"`);
    const quote = "A name with spaces goes into quotes.";
    throw usageError(`store ${path} does not expect ${extra.join(" ")}.`, [usage, quote]);
  }
}

function usageLine(path: string, command: Command): string {
  return `store ${path} ${command.usage[0]}`.trimEnd();
}

function exampleLine(command: Command): string {
  return `For example: ${command.examples[0]}`;
}
