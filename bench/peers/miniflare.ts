// Starts miniflare, the simulator of the platform that scripts come from, with a script whose
// `env.BUCKET` contains "key".
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "../section.ts";
import { firstDocument, installPeer, start } from "../servers.ts";

/** The last version of miniflare that runs on the oldest Node version that Store supports. */
const miniflareVersion = "4.20260426.0";

/** Installs miniflare into a cache folder, not as a dependency. If that fails, adds a note. */
export async function startMiniflare(
  context: Context,
  script: string,
  started: ChildProcess[],
): Promise<number | undefined> {
  try {
    const cache = await installPeer(context, "miniflare", miniflareVersion);
    const file = join(cache, "serve.mjs");
    writeFileSync(
      file,
      `import { Miniflare } from "miniflare";
const miniflare = new Miniflare({
  modules: true,
  script: ${JSON.stringify(script)},
  compatibilityDate: "2026-04-01",
  r2Buckets: ["BUCKET"],
  host: "127.0.0.1",
  port: 0,
});
const bucket = await miniflare.getR2Bucket("BUCKET");
await bucket.put("key", "value");
process.on("SIGTERM", () => miniflare.dispose().finally(() => process.exit()));
console.log(JSON.stringify({ port: Number((await miniflare.ready).port) }));
`,
    );
    const { port } = JSON.parse(await firstDocument(start([file], started))) as { port: number };
    return port;
  } catch (error) {
    context.note(
      `miniflare is skipped: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`,
    );
    return undefined;
  }
}
