// `store serve`: runs scripts for their users, on all cores.
import type { Command } from "../framework/command.ts";
import { serverOptions, serveScripts } from "../serve/server.ts";

export const serveCommand: Command = {
  name: "serve",
  summary: "Run scripts and the S3 API on all cores",
  details:
    "Secrets that change are taken in at once; for new code, start it anew. Where there is no configuration, the S3 API\n" +
    "is served alone.",
  usage: ["[--config FILE]... [--port PORT] [--host HOST]"],
  options: serverOptions,
  configs: "many",
  examples: [
    "store serve",
    "store serve --host 0.0.0.0 --port 80 --data /var/lib/store",
    "store serve --s3-domain s3.example.com --s3-url https://s3.example.com",
  ],
  run: (invocation) => serveScripts(invocation, "serve"),
};
