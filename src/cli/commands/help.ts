// `store help`: prints the same text as --help.
import { findCommand } from "../catalog.ts";
import type { Command } from "../framework/command.ts";
import { helpText } from "../help.ts";

export const helpCommand: Command = {
  name: "help",
  summary: "Show help for a command",
  usage: ["[command]..."],
  options: {},
  examples: ["store help", "store help bucket create"],
  async run({ parameters, output }) {
    const found = parameters.length === 0 ? undefined : await findCommand(parameters);
    await output.line(output.typed(await helpText(found, output.style)));
  },
};
