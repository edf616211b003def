// Finds what a word of a command line may become, from the usage forms of the command.
import { findCommand, shownCatalog } from "../../catalog.ts";
import { parameterForms, readCommandLine } from "../../framework/arguments.ts";
import {
  type Command,
  commonOptions,
  type Invocation,
  isGroup,
  type Option,
} from "../../framework/command.ts";
import { listNames, type NameKind } from "./names.ts";

/** The last word is the one to complete; it may be empty. */
export async function findCandidates(invocation: Invocation, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? "";
  const typed = words.slice(0, -1);
  const { command, path, next } = await findTyped(typed);
  const options: Readonly<Record<string, Option>> = { ...commonOptions, ...command?.options };
  const { positional: all, values, open } = readWords(typed, options);
  const positional = all.slice(path.length);
  const lookUp = (kind: NameKind, word: string) =>
    listNames(withOptions(invocation, values), { kind, word, positional });
  if (open !== undefined) {
    const kind = optionKind(open, options[open]?.value ?? "");
    return kind === undefined ? [] : lookUp(kind, current);
  }
  if (command === undefined && !current.startsWith("-")) return matching(next, current);
  if (command === undefined || current.startsWith("-"))
    return matching(
      Object.keys(options).map((name) => `--${name}`),
      current,
    );
  const found = await Promise.all(
    nextWords(command, path[0] ?? "", positional).map((word) =>
      "words" in word ? matching(word.words, current) : lookUp(word.kind, current),
    ),
  );
  return [...new Set(found.flat())];
}

function matching(names: readonly string[], current: string): string[] {
  return names.filter((name) => name.startsWith(current));
}

interface TypedCommand {
  readonly command: Command | undefined;
  /** The words that name the command or its group. */
  readonly path: readonly string[];
  /** Names that may follow while the command is not complete. */
  readonly next: readonly string[];
}

async function findTyped(typed: readonly string[]): Promise<TypedCommand> {
  const { words } = readCommandLine(typed);
  if (words.length === 0) return { command: undefined, path: [], next: shownCatalog.map(({ name }) => name) };
  const { entry, path } = await findCommand(words.slice(0, 2));
  if (!isGroup(entry)) return { command: entry, path: path.split(" "), next: [] };
  return { command: undefined, path: [path], next: entry.commands.map(({ name }) => name) };
}

interface ReadWords {
  readonly positional: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  /** The option that waits for its value. */
  readonly open: string | undefined;
}

function readWords(words: readonly string[], options: Readonly<Record<string, Option>>): ReadWords {
  const positional: string[] = [];
  const values = new Map<string, string>();
  let open: string | undefined;
  for (const word of words) {
    const [, name = "", value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (open !== undefined) {
      values.set(open, word);
      open = undefined;
    } else if (value !== undefined) values.set(name, value);
    else if (Object.hasOwn(options, name) && options[name]?.value !== undefined) open = name;
    else if (!word.startsWith("-") || word === "-") positional.push(word);
  }
  return { positional, values, open };
}

/** An invocation with the options typed so far: the names come from the same store. */
function withOptions(invocation: Invocation, values: ReadonlyMap<string, string>): Invocation {
  const texts = (name: string) => {
    const value = values.get(name);
    return value === undefined ? [] : [value];
  };
  return {
    ...invocation,
    options: { texts, text: (name) => values.get(name), flag: (name) => values.has(name) },
  };
}

function optionKind(name: string, value: string): NameKind | undefined {
  if (name === "script" || name === "profile") return name;
  return name === "bucket" || value === "BUCKET" ? "bucket" : undefined;
}

type NextWord = { readonly words: readonly string[] } | { readonly kind: NameKind };

/** What may follow the positional words, in each usage form that fits them. */
function nextWords(command: Command, group: string, positional: readonly string[]): NextWord[] {
  const forms = parameterForms(command.usage).filter((form) =>
    positional.every((word, i) => form[i] !== undefined && (!isVerb(form[i]!) || form[i] === word)),
  );
  const next = new Set(forms.flatMap((form) => form[positional.length] ?? []));
  return [...next].flatMap((word): NextWord[] => {
    if (isVerb(word)) return [{ words: [word] }];
    const choices = /^[[<]([a-z]+(?:\|[a-z]+)+)[\]>]$/.exec(word)?.[1];
    if (choices !== undefined) return [{ words: choices.split("|") }];
    const kind = parameterKind(word, group, command.name);
    return kind === undefined ? [] : [{ kind }];
  });
}

function isVerb(word: string): boolean {
  return /^[a-z][a-z-]*$/.test(word);
}

function parameterKind(word: string, group: string, command: string): NameKind | undefined {
  if (word.startsWith("<bucket>/") || word.startsWith("<bucket>[/") || /^<(from|to)>/.test(word))
    return "object";
  if (word.startsWith("<bucket>")) return "bucket";
  if (word === "<name>" && group === "bucket" && command !== "create") return "bucket";
  if (word.startsWith("<namespace>")) return "namespace";
  if (word === "<key>" && group === "kv") return "entry";
  if (word === "[script]") return "script";
  return word === "<shell>" ? "shell" : word === "[command]..." ? "command" : undefined;
}
