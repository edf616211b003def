// A versioned bucket in memory, with short functions for requests to it.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { NewCredential } from "../../src/access/keys/credentials.ts";
import { type DirectAnswer, type DirectScene, directScene } from "./direct.ts";
import type { Key } from "./scene.ts";

export interface Sent {
  /** Query without the question mark, such as `versionId=null&tagging`. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly key?: Key;
}

export interface VersionedScene extends DirectScene {
  /** Sends a request to a path in the bucket; an empty path is the bucket itself. */
  request(method: string, path: string, sent?: Sent): Promise<DirectAnswer>;
  /** Puts an object and returns its version id. */
  put(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<string | undefined>;
  setVersioning(status: "Enabled" | "Suspended"): Promise<void>;
  grant(rights: NonNullable<NewCredential["grants"]>[number]["rights"]): Promise<Key>;
}

export const bucket = "photos";

/** Creates a bucket. Versioning is on unless "plain" is given; "locked" also enables Object Lock. */
export async function versionedScene(
  t: { after(run: () => Promise<void>): void },
  kind: "versioned" | "locked" | "plain" = "versioned",
): Promise<VersionedScene> {
  const scene = await directScene(t);
  const { ask, engine } = scene;
  await engine.createBucket(bucket);
  if (kind !== "plain") await engine.changeSettings(bucket, { versioning: "on" });
  if (kind === "locked") await engine.changeSettings(bucket, { objectLock: {} });
  const request: VersionedScene["request"] = (method, path, { query = "", headers = {}, body, key } = {}) =>
    ask(
      {
        method,
        path: path === "" ? `/${bucket}` : `/${bucket}/${path}`,
        query: query === "" ? [] : query.split("&").map(toPair),
        headers,
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
      },
      key === undefined ? {} : { key },
    );
  return {
    ...scene,
    request,
    async put(path, body, headers = {}) {
      const answer = await request("PUT", path, { body, headers });
      assert.equal(answer.status, 200, answer.text);
      return answer.headers["x-amz-version-id"];
    },
    async setVersioning(status) {
      const body = `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`;
      const answer = await request("PUT", "", { query: "versioning", body });
      assert.equal(answer.status, 200, answer.text);
    },
    grant: (rights) => scene.newKey({ grants: [{ bucket, rights }] }),
  };
}

function toPair(text: string): [string, string] {
  const [name = "", value = ""] = text.split("=");
  return [name, decodeURIComponent(value)];
}

/** Headers with the Content-MD5 that operations on locks require. */
export function withMd5(body: string, headers: Readonly<Record<string, string>> = {}): Sent {
  return { body, headers: { ...headers, "content-md5": createHash("md5").update(body).digest("base64") } };
}

/** Returns the texts of all elements with this name. */
export function texts(document: string, name: string): string[] {
  return [...document.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text]) => text!);
}

/** Asserts the status and the error code. */
export function assertRefused({ status, code, text }: DirectAnswer, expected: [number, string]): void {
  assert.deepEqual([status, code], expected, text);
}
