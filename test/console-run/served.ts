// Fills a store, serves it, and creates a console token.
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createTokens } from "../../src/console/auth/tokens.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { openEngine } from "../../src/open.ts";
import { outcomeOf, shellIn } from "../cli/store.ts";

export interface ServedConsole {
  readonly url: string;
  readonly token: string;
  close(): Promise<void>;
}

export async function servedConsole(
  directory: string,
  fill: (engine: Engine) => Promise<void>,
): Promise<ServedConsole> {
  const { engine, documents } = await openEngine(join(directory, ".store"));
  await fill(engine);
  const { token } = await createTokens(documents, Date.now).create({ name: "anna" });
  await engine.close();
  const server = shellIn(directory).start([
    "serve",
    "--s3-port",
    "0",
    "--console-port",
    "0",
    "--public-port",
    "0",
    "--json",
  ]);
  const ended = outcomeOf(server);
  const first = await Promise.race([once(createInterface(server.stdout), "line"), ended]);
  if (!Array.isArray(first)) throw new Error(first.stderr);
  const { url } = (JSON.parse(String(first[0])) as { console: { url: string } }).console;
  return {
    url,
    token,
    async close() {
      server.kill("SIGTERM");
      await ended;
    },
  };
}
