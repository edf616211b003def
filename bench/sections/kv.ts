// Section "kv": get and put of 1 KiB values by the same script in Store and in miniflare.
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { Limit } from "../limits.ts";
import { type ScriptServer, startMiniflareScript, startStoreScript } from "../peers/scripts.ts";
import { type Context, compare, KiB, type Section } from "../section.ts";
import { end } from "../servers.ts";

export const kv: Section = {
  name: "kv",
  description: "get and put of 1 KiB in a key-value namespace by a script, compared with miniflare",
  run,
};

/** `atLeast` is the required ratio to miniflare. With one lane, every put waits for a disk sync. */
const measured = [
  { operation: "get", lanes: 1, atLeast: 20 },
  { operation: "get", lanes: 32, atLeast: undefined },
  { operation: "put", lanes: 1, atLeast: 10 },
  { operation: "put", lanes: 32, atLeast: undefined },
] as const;

async function run(context: Context): Promise<void> {
  const started: ChildProcess[] = [];
  try {
    const store = await startStoreScript(join(context.directory, "script"), started, { on: "kv" });
    const miniflare = await startMiniflareScript(context, started, "kv").catch((error: unknown) => {
      const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
      context.note(`miniflare is skipped: ${why}`);
      return undefined;
    });
    for (const { operation, lanes, atLeast } of measured) {
      const rate = (server: ScriptServer) => () => server.rate(operation, lanes, context.pace.seconds);
      const limits: Limit[] = miniflare === undefined ? [] : [{ name: "miniflare", round: rate(miniflare) }];
      await compare(context, {
        ...{ what: `kv ${operation}`, size: KiB, lanes, unit: "op/s" },
        round: rate(store),
        limits,
        bar: miniflare !== undefined && atLeast !== undefined ? { atLeast, of: "miniflare" } : undefined,
      });
    }
  } finally {
    await Promise.all(started.map(end));
  }
}
