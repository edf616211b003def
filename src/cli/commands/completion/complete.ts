// `store complete`: prints candidates for a word of a command line, for the scripts of
// `store completions`. It is silent on failure: a shell must not print errors at a Tab.
import type { Command } from "../../framework/command.ts";
import { findCandidates } from "./candidates.ts";

/** A completion that takes longer disturbs more than it helps. */
const maxMilliseconds = 3000;

export const completeCommand: Command = {
  name: "complete",
  summary: "Print completions of a command line, for completion scripts",
  usage: ["[word]..."],
  options: {},
  examples: ["store complete -- bucket info ph"],
  async run(invocation) {
    const { output, parameters } = invocation;
    // Ends the process even if the store does not answer.
    const limit = setTimeout(() => process.exit(0), maxMilliseconds).unref();
    try {
      const candidates = await findCandidates(invocation, parameters);
      if (output.isJson) await output.json(candidates);
      else if (candidates.length > 0) await output.line(candidates.join("\n"));
    } catch {
      if (output.isJson) await output.json([]);
    } finally {
      clearTimeout(limit);
    }
  },
};
