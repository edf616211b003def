// The reference of the command line, from the declarations of the commands.
import { catalog } from "../../src/cli/catalog.ts";
import { type Command, commonOptions, isGroup, type Option } from "../../src/cli/framework/command.ts";
import { generatedNote, tableOf } from "./references.ts";

export async function cliReference(): Promise<string> {
  const sections: string[] = [];
  const overview: string[][] = [];
  for (const { name, load } of catalog) {
    const entry = await load();
    const commands = isGroup(entry) ? entry.commands : [entry];
    const paths = commands.map((command) => (isGroup(entry) ? `${name} ${command.name}` : name));
    const links = paths.map((path, i) => `[${commands[i]!.name}](#${anchorOf(path)})`);
    overview.push([isGroup(entry) ? `${name}: ${links.join(", ")}` : links.join(""), entry.summary]);
    sections.push(...commands.map((command, i) => commandSection(command, paths[i]!)));
  }
  return [
    generatedNote,
    "# Commands and options",
    "Every command of `store` with its forms, options and examples, as `store help COMMAND` prints them.\n" +
      "[The store command](../cli.md) explains the commands with their output.",
    tableOf(["command", ""], overview),
    "## Options of every command",
    optionTable(commonOptions),
    ...sections,
    "",
  ].join("\n\n");
}

function anchorOf(path: string): string {
  return `store-${path.replaceAll(" ", "-")}`;
}

function commandSection(command: Command, path: string): string {
  const forms = command.usage.length === 0 ? [""] : command.usage;
  const usage = forms.map((form) => `store ${path} ${form}`.trimEnd());
  return [
    `## store ${path}`,
    `${command.summary}.`,
    ...(command.details === undefined ? [] : [detailsText(command.details)]),
    codeBlock(usage),
    ...(Object.keys(command.options).length === 0 ? [] : [optionTable(command.options)]),
    "For example:",
    codeBlock(command.examples),
  ].join("\n\n");
}

/** Details are plain text: what looks like HTML or a link stays as it is. */
function detailsText(details: string): string {
  return details.replaceAll(/[<>*[\]]/g, (character) => `\\${character}`);
}

function codeBlock(lines: readonly string[]): string {
  return ["```text", ...lines, "```"].join("\n");
}

function optionTable(options: Readonly<Record<string, Option>>): string {
  const rows = Object.entries(options).map(([name, { value, summary, short, repeatable }]) => {
    const valueText = value === undefined ? "" : ` ${value}`;
    const names = [
      `\`--${name}${valueText}\``,
      ...(short === undefined ? [] : [`\`-${short}${valueText}\``]),
    ];
    const text = summary.replaceAll(/[<>*[\]]/g, (character) => `\\${character}`);
    return [names.join(", "), repeatable ? `${text} (repeatable)` : text];
  });
  return tableOf(["option", ""], rows);
}
