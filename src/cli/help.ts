// Builds the text of --help for `store`, a group or a command from their declarations.
import { type CatalogEntry, shownCatalog } from "./catalog.ts";
import { type Command, type CommandGroup, commonOptions, isGroup, type Option } from "./framework/command.ts";
import type { Style } from "./framework/output.ts";

export async function helpText(
  found: { readonly entry: Command | CommandGroup; readonly path: string } | undefined,
  style: Style,
): Promise<string> {
  if (found === undefined) return overview(await Promise.all(shownCatalog.map(toOverviewRow)), style);
  return isGroup(found.entry) ? groupHelp(found.entry, style) : commandHelp(found.entry, found.path, style);
}

type Row = readonly [left: string, right: string];

/** Only names, so that the summaries fit into a terminal; the help of a command lists its forms. */
async function toOverviewRow({ name, load }: CatalogEntry): Promise<Row> {
  const { summary } = await load();
  return [name, summary];
}

function overview(rows: readonly Row[], style: Style): string {
  return [
    "Self-hosted object storage: buckets, objects, key-value namespaces, and scripts that use them.",
    section("Usage", ["store <command> [options]"], style),
    section("Commands", alignRows(rows), style),
    section("Options of every command", optionLines(commonOptions), style),
    section("Version", ["store --version, -v"], style),
    section("Examples", ["store init photos", "store bucket create photos", "store help object"], style),
  ].join("\n\n");
}

function groupHelp(group: CommandGroup, style: Style): string {
  const forms = group.commands.map(({ name, usage, summary }): Row => {
    const form = (usage[0] ?? "").replaceAll(/ ?\[-[^\]]*\](\.\.\.)?/g, "");
    return [`store ${group.name} ${name} ${form}`.trimEnd(), summary];
  });
  return [
    `${group.summary}.`,
    section("Commands", alignRows(forms), style),
    section("Options of every command", optionLines(commonOptions), style),
    section(
      "Examples",
      group.commands.map(({ examples }) => examples[0]!),
      style,
    ),
    `Help for one command: store ${group.name} ${group.commands[0]!.name} --help`,
  ].join("\n\n");
}

function commandHelp(command: Command, path: string, style: Style): string {
  const forms = command.usage.length === 0 ? [""] : command.usage;
  return [
    `${command.summary}.`,
    ...(command.details === undefined ? [] : [command.details]),
    section(
      "Usage",
      forms.map((form) => `store ${path} ${form}`.trimEnd()),
      style,
    ),
    section("Options", optionLines({ ...command.options, ...commonOptionsFor(command) }), style),
    section("Examples", command.examples, style),
  ].join("\n\n");
}

/** Common options, with --config repeatable where a command allows it. */
export function commonOptionsFor({ configs }: Command): Readonly<Record<string, Option>> {
  if (configs === undefined) return commonOptions;
  return { ...commonOptions, config: { ...commonOptions.config!, repeatable: true } };
}

function section(title: string, lines: readonly string[], style: Style): string {
  return [style.bold(title), ...lines.map((line) => `  ${line}`)].join("\n");
}

function optionLines(options: Readonly<Record<string, Option>>): string[] {
  return alignRows(Object.entries(options).map(([name, option]) => optionRow(name, option)));
}

/** Returns the forms of an option and its description. */
export function optionRow(name: string, { value, summary, short, repeatable }: Option): Row {
  const valueText = value === undefined ? "" : ` ${value}`;
  const left = `--${name}${valueText}${short === undefined ? "" : `, -${short}${valueText}`}`;
  return [left, repeatable ? `${summary} (repeatable)` : summary];
}

function alignRows(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`);
}
