// `store help`: prints the same text as --help, or the whole reference as a man page, Markdown or JSON.
import { findCommand } from "../catalog.ts";
import type { Command } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";
import { helpText } from "../help.ts";
import { manPage, markdownReference, readReference } from "../reference.ts";

export const helpCommand: Command = {
  name: "help",
  summary: "Show help for a command, or print the reference of all commands",
  usage: ["[command]...", "--man", "--markdown"],
  options: {
    man: { summary: "print the reference as a man page" },
    markdown: { summary: "print the reference as Markdown" },
  },
  examples: ["store help", "store help bucket create", "store help --man > store.1"],
  async run({ parameters, options, output }) {
    const forms = ["man", "markdown"].filter((name) => options.flag(name));
    if (forms.length + Math.min(parameters.length, 1) > 1) {
      throw usageError("Specify a command, --man or --markdown, not several of them.");
    }
    const found = parameters.length === 0 ? undefined : await findCommand(parameters);
    if (output.isJson) {
      const path = found?.path;
      const entries = await readReference();
      return output.json(
        entries.filter((entry) => path === undefined || `${entry.path} `.startsWith(`${path} `)),
      );
    }
    if (options.flag("man")) return output.line(manPage(await readReference()));
    if (options.flag("markdown")) return output.line(markdownReference(await readReference()));
    await output.line(output.typed(await helpText(found, output.style)));
  },
};
