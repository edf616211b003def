// Starts a store with its S3 API and creates access keys and AWS SDK clients for it.
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { type Scene, scriptScene } from "../script/scene.ts";
import type { Server } from "../script/server.ts";

export interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only for temporary credentials. */
  readonly sessionToken?: string | undefined;
}

export interface S3Scene {
  readonly scene: Scene;
  readonly server: Server;
  /** URL of the S3 API, without a trailing slash. */
  readonly url: string;
  readonly data: string;
  /** An access key with full access to the account `default`. */
  readonly key: Key;
  newKey(...args: string[]): Promise<Key>;
  client(key?: Key, config?: S3ClientConfig): S3Client;
}

const source = `
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/presign") {
      const options = { method: url.searchParams.get("method") ?? "GET" };
      return new Response(await env.BUCKET.presign(url.searchParams.get("key"), options));
    }
    const object = await env.BUCKET.get(decodeURIComponent(url.pathname.slice(1)));
    return object === null ? new Response("none", { status: 404 }) : new Response(object.body);
  },
};`;

/** Starts a store whose script has one bucket named `bucket`. */
export async function s3Scene(
  t: Pick<TestContext, "after">,
  mode: "dev" | "serve" = "dev",
  args: readonly string[] = [],
  script: string = source,
): Promise<S3Scene> {
  const scene = await scriptScene(t, script);
  const server = await scene.start(mode, { args });
  const data = join(scene.directory, ".store");
  const { url } = server.announced.s3;
  const clients: S3Client[] = [];
  t.after(() => {
    for (const client of clients) client.destroy();
  });
  async function newKey(...more: string[]): Promise<Key> {
    const { code, stdout, stderr } = await scene.shell.run([
      "key",
      "create",
      "--data",
      data,
      "--json",
      ...more,
    ]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Key;
  }
  const key = mode === "dev" ? (server.announced.s3 as unknown as Key) : await newKey();
  return {
    scene,
    server,
    url,
    data,
    key,
    newKey,
    client(given = key, config = {}) {
      const client = new S3Client({
        endpoint: url,
        region: "auto",
        forcePathStyle: true,
        credentials: {
          accessKeyId: given.accessKeyId,
          secretAccessKey: given.secretAccessKey,
          ...(given.sessionToken === undefined ? {} : { sessionToken: given.sessionToken }),
        },
        ...config,
      });
      clients.push(client);
      return client;
    },
  };
}

/** Asserts that the promise rejects with this S3 error code and status. */
export async function refused(promise: Promise<unknown>, code: string, status?: number): Promise<void> {
  await assert.rejects(promise, (error: { name: string; $metadata?: { httpStatusCode?: number } }) => {
    assert.equal(error.name, code);
    if (status !== undefined) assert.equal(error.$metadata?.httpStatusCode, status);
    return true;
  });
}
