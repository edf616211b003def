// `store dev`: runs scripts while they are written.
import type { Command } from "../framework/command.ts";
import { serverOptions, serveScripts } from "../serve/server.ts";

export const devCommand: Command = {
  name: "dev",
  summary: "Run scripts and the S3 API, and load scripts anew when they change",
  details:
    "Stack traces of the script's faults are shown in the response. /__scheduled?cron=… runs its scheduled handler.\n" +
    "Secrets that change are taken in at once.",
  usage: ["[--config FILE]... [--port PORT]"],
  options: serverOptions,
  configs: "many",
  examples: [
    "store dev",
    "store dev --port 0 --create-buckets",
    "store dev --config a/store.toml --config b/store.toml",
  ],
  run: (invocation) => serveScripts(invocation, "dev"),
};
