// `store dev`: runs scripts during development.
import type { Command } from "../framework/command.ts";
import { serverOptions } from "../serve/plan.ts";
import { serveScripts } from "../serve/server.ts";

export const devCommand: Command = {
  name: "dev",
  summary: "Run scripts and the S3 API for development, and reload scripts when they change",
  details:
    "Responses show stack traces of script errors. /__scheduled?cron=… runs the scheduled handler.\n" +
    "Changed secrets take effect immediately.",
  usage: ["[file] [--config FILE]... [--port PORT]"],
  options: serverOptions,
  configs: "many",
  examples: [
    "store dev",
    "store dev --port 0 --create-buckets",
    "store dev src/index.ts",
    "store dev --config a/store.toml --config b/store.toml",
  ],
  run: (invocation) => serveScripts(invocation, "dev"),
};
