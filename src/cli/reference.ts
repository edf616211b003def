// The reference of all commands, made from their declarations: a man page, Markdown and plain data.
import { shownCatalog } from "./catalog.ts";
import { type Command, commonOptions, isGroup, type Option } from "./framework/command.ts";
import { commonOptionsFor, optionRow } from "./help.ts";

/** A command as --json prints it. */
export interface ReferenceEntry
  extends Pick<Command, "summary" | "details" | "usage" | "options" | "examples"> {
  /** The words that name the command, such as "bucket create". */
  readonly path: string;
}

export async function readReference(): Promise<ReferenceEntry[]> {
  const loaded = await Promise.all(shownCatalog.map(({ load }) => load()));
  return loaded.flatMap((entry) =>
    isGroup(entry)
      ? entry.commands.map((command) => toEntry(`${entry.name} ${command.name}`, command))
      : [toEntry(entry.name, entry)],
  );
}

function toEntry(path: string, command: Command): ReferenceEntry {
  const { summary, details, usage, examples } = command;
  // --config is listed with the command only where it differs from the common option.
  const options =
    command.configs === undefined
      ? command.options
      : { ...command.options, config: commonOptionsFor(command).config! };
  return { path, summary, ...(details === undefined ? {} : { details }), usage, options, examples };
}

/** Exit codes of every command. */
export const exitCodes: readonly (readonly [code: number, meaning: string])[] = [
  [0, "The command succeeded."],
  [
    1,
    "The command failed, or found what it looks for: damage (verify, restore --verify), differences (copy), a broken " +
      "chain (audit --verify), an outdated file (types --check), a problem (doctor).",
  ],
  [
    2,
    "Wrong usage: an unknown command or option, a wrong value, or an invalid document. Nothing was changed.",
  ],
  [130, "Interrupted by Ctrl-C: the process ends by the signal itself, as with any other signal."],
  [141, "The reader of the output closed the pipe."],
];

/** Environment variables that commands read. */
export const variables: readonly (readonly [name: string, meaning: string])[] = [
  ["STORE_DATA", "the data directory, instead of --data"],
  ["STORE_RECORDS, STORE_BLOBS", "the location of a cluster, instead of --records and --blobs"],
  ["STORE_READS", "usual or strict: the reads of a cluster"],
  ["STORE_CACHE, STORE_CACHE_SIZE", "folder and size of the body cache of a cluster"],
  ["STORE_SECRET_KEY", "the key that seals secrets and access keys, instead of the file secret.key"],
  ["STORE_ENCRYPTION", "always: encrypt every new object"],
  ["STORE_CONSOLE_URL, STORE_CONSOLE_TOKEN", "the console of a server and its token, for store logs"],
  ["STORE_DEBUG", "1: print a stack trace after an error"],
  ["NO_COLOR", "any value: no colours"],
];

export function manPage(entries: readonly ReferenceEntry[]): string {
  const lines = [
    '.TH STORE 1 "" "Store" "User Commands"',
    ".SH NAME",
    "store \\- self\\-hosted object storage: buckets, objects, key\\-value namespaces, and scripts",
    ".SH SYNOPSIS",
    ".B store",
    "\\fIcommand\\fR [\\fIoptions\\fR]",
    ".SH DESCRIPTION",
    "Works on a data directory or a cluster. It needs no server; if one runs on the same store, both work at the",
    "same time and see each other's changes at once.",
    ".SH OPTIONS OF EVERY COMMAND",
    ...manOptions(commonOptions),
    ".SH COMMANDS",
    ...entries.flatMap(manCommand),
    ".SH EXIT STATUS",
    ...exitCodes.flatMap(([code, meaning]) => [".TP", `.B ${code}`, roff(meaning)]),
    ".SH ENVIRONMENT",
    ...variables.flatMap(([name, meaning]) => [".TP", `.B ${roff(name)}`, roff(meaning)]),
  ];
  return lines.join("\n");
}

function manCommand({ path, summary, details, usage, options, examples }: ReferenceEntry): string[] {
  const forms = usage.flatMap((form) => [".br", `.B ${roff(`store ${path} ${form}`.trimEnd())}`]);
  return [
    `.SS store ${roff(path)}`,
    `${roff(summary)}.`,
    ".PP",
    ...forms.slice(1),
    ...(details === undefined ? [] : [".PP", ...details.split("\n").map(roff)]),
    ...manOptions(options),
    ".PP",
    "Examples:",
    ".RS",
    ".nf",
    ...examples.map(roff),
    ".fi",
    ".RE",
  ];
}

function manOptions(options: Readonly<Record<string, Option>>): string[] {
  return Object.entries(options).flatMap(([name, option]) => {
    const [left, right] = optionRow(name, option);
    return [".TP", `.B ${roff(left)}`, roff(right)];
  });
}

/** Escapes backslashes, dashes, and a dot or quote at the start of a line. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "...")
    .replaceAll("→", "->")
    .replace(/^(?=[.'])/, "\\&");
}

export function markdownReference(entries: readonly ReferenceEntry[]): string {
  const lines = [
    "# Commands and options",
    "",
    "All commands and options, generated from their declarations by `store help --markdown`.",
    "[The `store` command](../cli.md) explains them with examples.",
    "",
    "## Options of every command",
    "",
    ...optionTable(commonOptions),
    "",
    "## Exit codes",
    "",
    "| code | meaning |",
    "|---|---|",
    ...exitCodes.map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`),
    "",
    "## Environment variables",
    "",
    "| variable | meaning |",
    "|---|---|",
    ...variables.map(([name, meaning]) => `| \`${name}\` | ${cell(meaning)} |`),
    ...entries.flatMap(markdownCommand),
  ];
  return lines.join("\n");
}

function markdownCommand({ path, summary, details, usage, options, examples }: ReferenceEntry): string[] {
  const forms = usage.map((form) => `store ${path} ${form}`.trimEnd());
  return [
    "",
    `## store ${path}`,
    "",
    `${summary}.`,
    "",
    "```text",
    ...forms,
    "```",
    ...(details === undefined ? [] : ["", ...wrap(details.replaceAll("\n", " "))]),
    ...(Object.keys(options).length === 0 ? [] : ["", ...optionTable(options)]),
    "",
    "Examples:",
    "",
    "```text",
    ...examples,
    "```",
  ];
}

function optionTable(options: Readonly<Record<string, Option>>): string[] {
  const rows = Object.entries(options).map(([name, option]) => {
    const [left, right] = optionRow(name, option);
    return `| \`${cell(left)}\` | ${cell(right)} |`;
  });
  return ["| option | |", "|---|---|", ...rows];
}

/** A bar would end the cell, and a tag would be HTML. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

const maxColumns = 100;

function wrap(text: string): string[] {
  const lines: string[] = [""];
  for (const word of text.replaceAll("<", "&lt;").replaceAll("*", "\\*").split(/\s+/)) {
    const line = lines.at(-1)!;
    if (line !== "" && line.length + 1 + word.length > maxColumns) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}
