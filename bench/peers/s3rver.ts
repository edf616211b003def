// Starts s3rver from npm: an S3 server for tests, on plain files, that never syncs its writes.
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "../section.ts";
import { firstDocument, installPeer, start } from "../servers.ts";
import { bucket, type S3Server, s3ServerAt } from "./s3-server.ts";

const version = "3.7.1";

/** Required ratios to s3rver's rates. */
export const s3rverBars = { getBar: 8, putBar: 5 } as const;

/** Returns undefined and adds a note if s3rver cannot be installed or started. */
export async function startS3rver(context: Context, started: ChildProcess[]): Promise<S3Server | undefined> {
  try {
    const cache = await installPeer(context, "s3rver", version);
    const file = join(cache, "serve.mjs");
    writeFileSync(
      file,
      `import S3rver from "s3rver";
const [, , directory] = process.argv;
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory,
  configureBuckets: [{ name: "${bucket}" }],
});
const { port } = await server.run();
console.log(JSON.stringify({ port }));
`,
    );
    const child = start([file, join(context.directory, "s3rver")], started);
    const { port } = JSON.parse(await firstDocument(child)) as { port: number };
    const key = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
    return s3ServerAt({ name: "s3rver", endpoint: `http://127.0.0.1:${port}`, ...key, isSynced: false });
  } catch (error) {
    context.note(leftOut("s3rver", error));
    return undefined;
  }
}

export function leftOut(name: string, error: unknown): string {
  return `${name} is skipped: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`;
}
