// An S3 service in another process: `store serve` on a data directory of its own.
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openEngine } from "../../../src/open.ts";
import { outcomeOf, shellIn } from "../../cli/store.ts";

export interface StoreService {
  /** Host and port of the S3 API. */
  readonly host: string;
  /** Variables with the access key, as S3 clients expect them. */
  readonly environment: { readonly AWS_ACCESS_KEY_ID: string; readonly AWS_SECRET_ACCESS_KEY: string };
  end(): Promise<void>;
}

export async function startStoreService(directory: string, bucket: string): Promise<StoreService> {
  await mkdir(directory, { recursive: true });
  const { engine } = await openEngine(join(directory, ".store"));
  await engine.createBucket(bucket);
  await engine.close();
  const shell = shellIn(directory);
  const key = JSON.parse(await shell.store("key", "create", "--json"));
  const child = shell.start(["serve", "--s3-port", "0", "--console-port", "0", "--json"]);
  child.stdin.end();
  const ended = outcomeOf(child);
  const first = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  if (!Array.isArray(first)) throw new Error(`store serve did not start: ${JSON.stringify(first)}`);
  const { s3 } = JSON.parse(String(first[0])) as { readonly s3: { readonly url: string } };
  return {
    host: new URL(s3.url).host,
    environment: { AWS_ACCESS_KEY_ID: key.accessKeyId, AWS_SECRET_ACCESS_KEY: key.secretAccessKey },
    async end() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
