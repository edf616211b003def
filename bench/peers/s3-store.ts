// Starts `store serve` with a bucket and an access key, to measure its S3 API.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Credentials, createCredentials } from "../../src/access/keys/credentials.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { openEngine } from "../../src/open.ts";
import { loadSecretKey } from "../../src/secrets/master-key.ts";
import { startStore } from "../servers.ts";
import { bucket, type S3Server, s3ServerAt } from "./s3-server.ts";

export async function startS3Store(directory: string, started: ChildProcess[]): Promise<S3Server> {
  return (await startWithScript(directory, started)).server;
}

export interface WithScriptOptions {
  readonly script?: string;
  readonly args?: readonly string[];
  /** Called before the server starts. */
  readonly prepare?: (engine: Engine, credentials: Credentials) => Promise<void>;
}

export interface WithScript {
  readonly server: S3Server;
  readonly scriptUrl: string;
  readonly s3Url: string;
  readonly access: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Starts `store serve` with the S3 API and a script whose `env.BUCKET` is the bucket. */
export async function startWithScript(
  directory: string,
  started: ChildProcess[],
  { script = "export default { fetch: () => new Response() };", args = [], prepare }: WithScriptOptions = {},
): Promise<WithScript> {
  writeFileSync(join(directory, "index.js"), script);
  const data = join(directory, "data");
  mkdirSync(data);
  const { engine, documents } = await openEngine(data);
  await engine.createBucket(bucket);
  const credentials = createCredentials(documents, loadSecretKey(data, undefined), Date.now);
  const { accessKeyId, secretAccessKey } = await credentials.create();
  await prepare?.(engine, credentials);
  await engine.close();
  const { url, s3 } = await startStore(directory, started, args);
  const key = { accessKeyId, secretAccessKey };
  const server = await s3ServerAt({ name: "store", endpoint: s3.url, ...key, isSynced: true });
  return { server, scriptUrl: url, s3Url: s3.url, access: key };
}
