// The declaration of a command, and the invocation passed to its `run` method. Help, completions
// and argument checks all come from the declaration, so they cannot contradict each other.
import type { Output } from "./output.ts";

export interface Command {
  /** The last word of the command: "create" for `store bucket create`. */
  readonly name: string;
  /** Description of one line, without a full stop. */
  readonly summary: string;
  /**
   * Usage forms without `store <name>`: `<x>` is required, `[x]` optional, a last `x...` repeats.
   * Options such as `[--force]` are only shown in the help and are not parsed from here.
   */
  readonly usage: readonly string[];
  /** Options by name, without dashes, in addition to `commonOptions`. */
  readonly options: Readonly<Record<string, Option>>;
  /** At least one complete command line. */
  readonly examples: readonly string[];
  /** Additional text for --help. */
  readonly details?: string;
  /** "many" allows --config several times. */
  readonly configs?: "many";
  /** Returns the exit code (default: 0) and throws on failure. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing on success.
  run(invocation: Invocation): Promise<number | void>;
}

/** Commands with a common first word: `store bucket …`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}

export function isGroup(entry: Command | CommandGroup): entry is CommandGroup {
  return "commands" in entry;
}

export interface Option {
  /** Name of the value in help, such as `FILE`; undefined for a flag. */
  readonly value?: string;
  readonly summary: string;
  /** One letter, used with a single dash. */
  readonly short?: string;
  readonly repeatable?: true;
}

export interface Invocation {
  /** The words that name the command, such as "bucket create". */
  readonly command: string;
  /** Positional arguments, as many as `usage` allows. */
  readonly parameters: readonly string[];
  readonly options: ParsedOptions;
  readonly output: Output;
  /** Environment variables. Commands never read process.env. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The working directory. */
  readonly directory: string;
}

/** Values given on the command line. Reading an undeclared option is a bug and throws. */
export interface ParsedOptions {
  flag(name: string): boolean;
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
}

export const commonOptions: Readonly<Record<string, Option>> = {
  config: {
    value: "FILE",
    summary:
      "configuration file; default: store.toml, .json or .jsonc here, or wrangler.toml, .json or .jsonc",
  },
  data: {
    value: "DIR",
    summary: "data directory; default: STORE_DATA, or .store next to the configuration file",
  },
  records: {
    value: "URL",
    summary: "records of a cluster, postgres://…; default: STORE_RECORDS, or the configuration",
  },
  blobs: {
    value: "URL",
    summary: "bytes of a cluster, s3://… or file:///…; default: STORE_BLOBS, or the configuration",
  },
  endpoint: {
    value: "URL",
    summary: "a running server or other S3 service, instead of files; default: STORE_ENDPOINT",
  },
  profile: {
    value: "NAME",
    summary: "a service of store profile add, with its access key; default: STORE_PROFILE",
  },
  json: { summary: "print JSON" },
  help: { summary: "print this help" },
};
