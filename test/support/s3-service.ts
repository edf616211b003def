// An S3 service for the blobs of a cluster: Store's own S3 API in this process, on a store in
// memory.
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import { createCredentials } from "../../src/access/keys/credentials.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { listen } from "../../src/http/server/listen.ts";
import { openEngine } from "../../src/open.ts";
import { createS3Handler } from "../../src/s3/handler.ts";
import { s3PortOptions } from "../../src/s3/server/port.ts";

export interface S3Service {
  readonly port: number;
  readonly engine: Engine;
  /** The existing bucket of the service. */
  readonly bucket: string;
  /** Returns the URL of a blob backend in this service; `port` may be the port of a proxy. */
  shelfUrl(options?: { readonly port?: number; readonly prefix?: string; readonly bucket?: string }): string;
  /** Returns the keys of all objects in the bucket. */
  keys(): Promise<string[]>;
}

export async function startS3Service(t: Pick<TestContext, "after">): Promise<S3Service> {
  const { engine, documents } = await openEngine("memory:");
  const credentials = createCredentials(documents, randomBytes(32), Date.now);
  const key = await credentials.create();
  const bucket = "shelf";
  await engine.createBucket(bucket);
  const handler = createS3Handler({ engine, credentials, domains: [], now: Date.now, log: () => {} });
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, s3PortOptions);
  t.after(async () => {
    await listening.drain();
    await engine.close();
  });
  const port = listening.port!;
  const user = `${encodeURIComponent(key.accessKeyId)}:${encodeURIComponent(key.secretAccessKey)}`;
  return {
    port,
    engine,
    bucket,
    shelfUrl: (given = {}) =>
      `s3://${user}@127.0.0.1:${given.port ?? port}/${given.bucket ?? bucket}${given.prefix ?? ""}`,
    async keys() {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await engine.list(bucket, { cursor });
        found.push(...page.objects.map(({ key }) => key));
        cursor = page.cursor;
      } while (cursor !== undefined);
      return found;
    },
  };
}
