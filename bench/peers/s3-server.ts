// An S3 server under load: its port and presigned paths. Large bodies are sent and read with
// node:http, small requests with http-load.ts.
import { request } from "node:http";
import { presign } from "../../src/http/sigv4.ts";
import { sameCount } from "../section.ts";

/** The bucket used on every server. */
export const bucket = "bench";

export interface S3Server {
  readonly name: string;
  readonly port: number;
  /** Whether acknowledged writes are synced to disk. */
  readonly isSynced: boolean;
  /** Returns a presigned path for a key, or for the bucket if `key` is omitted. */
  path(method: string, key?: string, query?: readonly (readonly [string, string])[]): string;
}

export interface S3Address {
  readonly name: string;
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly isSynced: boolean;
  /** Default: the bucket used on every server. */
  readonly bucketName?: string;
}

export function s3ServerAt(address: S3Address): S3Server {
  const { name, endpoint, accessKeyId, secretAccessKey, isSynced, bucketName = bucket } = address;
  return {
    name,
    port: Number(new URL(endpoint).port),
    isSynced,
    path: (method, key, query = []) =>
      presign({
        ...{ endpoint, method, accessKeyId, secretAccessKey, region: "us-east-1" },
        query,
        path: key === undefined ? `/${bucketName}` : `/${bucketName}/${key}`,
        ...{ time: Date.now(), expiresInSeconds: 3600 },
      }).slice(endpoint.length),
  };
}

/** Returns the server's name for rows of puts; the name states if writes are never synced. */
export function nameWithSync({ name, isSynced }: S3Server): string {
  return isSynced ? name : `${name}, never synced`;
}

export function putObject(server: S3Server, key: string, body: Uint8Array): Promise<void> {
  return put(server, server.path("PUT", key), body);
}

export function createBucket(server: S3Server): Promise<void> {
  return put(server, server.path("PUT"), new Uint8Array());
}

function put({ name, port }: S3Server, path: string, body: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-length": body.length };
    const outgoing = request({ port, host: "127.0.0.1", method: "PUT", path, headers });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      incoming.resume();
      incoming.on("end", () =>
        incoming.statusCode === 200
          ? resolve()
          : reject(new Error(`Cannot measure: ${name} answered a PUT with ${incoming.statusCode}`)),
      );
    });
    outgoing.end(body);
  });
}

export function getBytes(port: number, path: string, bytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: "127.0.0.1", path });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      let found = 0;
      incoming.on("data", (chunk: Buffer) => {
        found += chunk.length;
      });
      incoming.on("end", () => {
        sameCount(found, bytes, "bytes");
        resolve();
      });
    });
    outgoing.end();
  });
}
