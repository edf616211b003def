// `store serve`: runs scripts and the S3 API in production.
import type { Command } from "../framework/command.ts";
import { serverOptions } from "../serve/plan.ts";
import { serveScripts } from "../serve/server.ts";

export const serveCommand: Command = {
  name: "serve",
  summary: "Run scripts and the S3 API in production, on all cores",
  details:
    "Changed secrets take effect immediately; restart the server to load new code. Without a configuration file,\n" +
    "only the S3 API, the console and public buckets are served.",
  usage: ["[file] [--config FILE]... [--port PORT] [--host HOST]"],
  options: serverOptions,
  configs: "many",
  examples: [
    "store serve",
    "store serve --host 0.0.0.0 --port 80 --data /var/lib/store",
    "store serve --s3-domain s3.example.com --s3-url https://s3.example.com",
  ],
  run: (invocation) => serveScripts(invocation, "serve"),
};
