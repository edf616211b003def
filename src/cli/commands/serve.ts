// `store serve`: runs scripts for their users, on all cores.
import type { Command } from "../command.ts";
import { serverOptions, serveScripts } from "../serve-scripts.ts";

export const serveCommand: Command = {
  name: "serve",
  summary: "Run scripts on all cores",
  details: "Secrets that change are taken in at once; for new code, start it anew.",
  usage: ["[--config FILE]... [--port PORT] [--host HOST]"],
  options: serverOptions,
  configs: "many",
  examples: ["store serve", "store serve --host 0.0.0.0 --port 80 --data /var/lib/store"],
  run: (invocation) => serveScripts(invocation, "serve"),
};
