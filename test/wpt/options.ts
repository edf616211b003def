// Command-line options of the web-platform-tests run.
import { parseArgs } from "node:util";

export interface RunOptions {
  /** Folder of the web-platform-tests checkout. */
  readonly checkout: string;
  /** Node binary for the comparison run on Node's own classes. */
  readonly comparisonNode: string;
  /** Folder prefixes to run, for example "streams"; empty: all. */
  readonly only: readonly string[];
  readonly format: "text" | "json";
}

export const usage = `Usage: npm run test:wpt -- --wpt DIR [--node FILE] [--only FOLDER]... [--json]

Runs the web-platform-tests of fetch, streams, url, encoding, compression and FileAPI in the global
scope of scripts, and the same tests on Node's own classes.

  --wpt DIR      a checkout of web-platform-tests; get one with
                 git clone --depth 1 https://github.com/web-platform-tests/wpt
  --node FILE    Node binary of the comparison run (default: the running one)
  --only FOLDER  run only this folder, for example streams or fetch/api/headers; may be repeated
  --json         print all results as JSON`;

/** Returns undefined if the arguments are invalid or lack --wpt; the caller prints the usage. */
export function parseOptions(args: readonly string[]): RunOptions | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        wpt: { type: "string" },
        node: { type: "string", default: process.execPath },
        only: { type: "string", multiple: true, default: [] },
        json: { type: "boolean", default: false },
      },
    });
    if (values.wpt === undefined) return undefined;
    return {
      checkout: values.wpt,
      comparisonNode: values.node,
      only: values.only,
      format: values.json ? "json" : "text",
    };
  } catch {
    return undefined;
  }
}
