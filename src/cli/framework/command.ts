// What a command of `store` is, and what it is given when it runs. Everything a person reads in --help and
// every rule of its arguments is declared here, so that help and behaviour cannot part.
import type { Output } from "./output.ts";

export interface Command {
  /** The last word: "create" of `store bucket create`. */
  readonly name: string;
  /** One line, no full stop. */
  readonly summary: string;
  /**
   * The forms of its arguments, without `store <name>`: `<x>` must be given, `[x]` may be, a last one that ends
   * in `...` any number of times. Options are for the reader only, in brackets where they may be left out: `[--force]`.
   */
  readonly usage: readonly string[];
  /** By name without dashes; `config`, `data`, `records`, `blobs`, `json` and `help` are every command's. */
  readonly options: Readonly<Record<string, Option>>;
  /** Whole command lines, at least one. */
  readonly examples: readonly string[];
  /** Further words for --help. */
  readonly details?: string;
  /** Whether --config may be given several times. */
  readonly configs?: "many";
  /** The exit code; nothing stands for 0. What went wrong is thrown. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a command that ends well says nothing.
  run(invocation: Invocation): Promise<number | void>;
}

/** Commands under one word: `store bucket …`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}

export function isGroup(entry: Command | CommandGroup): entry is CommandGroup {
  return "commands" in entry;
}

export interface Option {
  /** What stands behind it in help, `FILE`; a flag has none. */
  readonly value?: string;
  readonly summary: string;
  /** The letter that stands for it after one dash. */
  readonly short?: string;
  /** Whether it may be given several times. */
  readonly repeatable?: true;
}

export interface Invocation {
  /** As typed: "bucket create". */
  readonly command: string;
  /** The arguments that are no options, as many as `usage` allows. */
  readonly parameters: readonly string[];
  readonly options: ParsedOptions;
  readonly output: Output;
  /** The environment variables; nothing else reads them. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder it was called in. */
  readonly directory: string;
}

/** What was given. Asking for an option that the command does not declare is a bug and throws. */
export interface ParsedOptions {
  flag(name: string): boolean;
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
}

export const commonOptions: Readonly<Record<string, Option>> = {
  config: {
    value: "FILE",
    summary:
      "the script's configuration; store.toml, .json or .jsonc here, else wrangler.toml, .json or .jsonc",
  },
  data: {
    value: "DIR",
    summary: "the data directory; else STORE_DATA, else .store beside the configuration",
  },
  records: {
    value: "URL",
    summary: "a cluster's records, postgres://…; else STORE_RECORDS, else the configuration",
  },
  blobs: {
    value: "URL",
    summary: "its bytes, s3://… or file:///…; else STORE_BLOBS, else the configuration",
  },
  json: { summary: "print JSON" },
  help: { summary: "print this help" },
};
