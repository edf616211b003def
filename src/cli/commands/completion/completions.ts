// `store completions`: prints a completion script for a shell.
import { completionScript, shells } from "../../completions.ts";
import type { Command } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";

export const completionsCommand: Command = {
  name: "completions",
  summary: "Print the completion script for a shell",
  details:
    "Completes commands, options, and the names of buckets, keys, namespaces, scripts and profiles.\n" +
    "For bash, in ~/.bashrc:              source <(store completions bash)\n" +
    "For zsh, in ~/.zshrc after compinit: source <(store completions zsh)\n" +
    "For fish:                            store completions fish > ~/.config/fish/completions/store.fish",
  usage: ["<shell>"],
  options: {},
  examples: ["store completions bash", "store completions zsh", "store completions fish"],
  async run({ parameters, output }) {
    const shell = shells.find((name) => name === parameters[0]);
    if (shell === undefined) {
      throw usageError(
        `There is no completion script for "${parameters[0]}".`,
        `Use one of: ${shells.join(", ")}`,
      );
    }
    const script = await completionScript(shell);
    if (output.isJson) await output.json({ shell, script });
    else await output.line(script);
  },
};
