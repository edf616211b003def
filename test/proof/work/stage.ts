// What the work proof is played on: the server of the overload proof with stored data of every kind
// that requests can be multiplied with, and callers that have no right but the one they need.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { encodeText } from "../../../src/http/sigv4.ts";
import { type Raw, type RawAnswer, sendRaw, signRaw } from "../../s3/raw.ts";
import type { Key } from "../../s3/scene.ts";
import type { RepeatedRequest } from "../overload/attacker.ts";
import type { OverloadScene } from "../overload/scene.ts";

export interface WorkCase {
  /** What is multiplied with what, such as "1,000 names with 4,000 versions". */
  readonly name: string;
  /** Stores the data of the case; returns the request that is repeated. */
  prepare(stage: WorkStage): Promise<RepeatedRequest>;
}

/** Signs in advance, so that the caller's own work is small beside the server's. */
export type Signer = (raw: Raw) => RepeatedRequest;

export interface WorkStage {
  readonly scene: OverloadScene;
  /** Number of versions, folders, parts and so on that a case stores. */
  readonly stored: number;
  /** Sends a request as the owner of the store; it must succeed. */
  call(raw: Raw): Promise<RawAnswer>;
  /** Sends one request for each number below `count`, as the owner, several at a time. */
  fill(count: number, raw: (index: number) => Raw): Promise<void>;
  /** Sends a request once; it must succeed. */
  send(asked: RepeatedRequest): Promise<void>;
  /** Creates a key with these grants only, such as "versions:delete". */
  keyWith(...grants: readonly string[]): Promise<Signer>;
  /** Signs in to the console with a role on one bucket, such as "versions:viewer". */
  signIn(role: string): Promise<(asked: Omit<RepeatedRequest, "port">) => RepeatedRequest>;
}

/** The proof lasts minutes, a header's signature is valid for 15. */
const longestExpiry = 604_800;
const filledAtOnce = 16;

export function openWorkStage(scene: OverloadScene, stored: number): WorkStage {
  const { url, key: owner, shell, ports } = scene;
  const call = async (raw: Raw) => {
    const answer = await sendRaw(url, signRaw(url, raw, { key: owner, form: "header" }));
    assert.ok(answer.status < 300, `${raw.method} ${raw.path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  return {
    scene,
    stored,
    call,
    async fill(count, raw) {
      let next = 0;
      const lane = async () => {
        while (next < count) await call(raw(next++));
      };
      await Promise.all(Array.from({ length: filledAtOnce }, lane));
    },
    async send(asked) {
      const { status, text } = await sendOnce(asked);
      assert.ok(status < 300, `${asked.method} ${asked.path}: ${status} ${text}`);
    },
    async keyWith(...grants) {
      const options = grants.flatMap((grant) => ["--grant", grant]);
      const key = JSON.parse(await shell.store("key", "create", ...options, "--json")) as Key;
      return (raw) => presign(scene, raw, key);
    },
    async signIn(role) {
      const made = await shell.store("console", "token", "--bucket", role, "--json");
      const { token } = JSON.parse(made) as { readonly token: string };
      const headers = { "x-store-console": "1", "content-type": "application/json" };
      const cookie = await signedInCookie(ports.console, headers, token);
      return (asked) => ({
        port: ports.console,
        ...asked,
        headers: { ...headers, cookie, ...asked.headers },
      });
    },
  };
}

function presign({ url, ports }: OverloadScene, raw: Raw, key: Key): RepeatedRequest {
  const payload = raw.headers?.["x-amz-content-sha256"];
  const { query, headers } = signRaw(url, raw, {
    ...{ key, form: "query", expires: longestExpiry },
    ...(payload === undefined ? {} : { payload }),
  });
  return {
    ...{ port: ports.s3, method: raw.method, headers: { ...headers } },
    path: `${raw.path}?${queryText(query)}`,
    ...(raw.body === undefined ? {} : { body: Buffer.from(raw.body).toString("latin1") }),
  };
}

export function queryText(query: readonly (readonly [string, string])[]): string {
  return query.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`).join("&");
}

async function signedInCookie(port: number, headers: Record<string, string>, token: string): Promise<string> {
  const asked = { port, method: "POST", path: "/api/session", headers, body: JSON.stringify({ token }) };
  const { status, cookie } = await sendOnce(asked);
  assert.ok(cookie !== undefined, `Signing in to the console was answered with ${status}.`);
  return cookie.split(";")[0]!;
}

async function sendOnce({ port, method, path, headers = {}, body }: RepeatedRequest) {
  const asked = request({ host: "127.0.0.1", port, method, path, headers });
  asked.end(body, "latin1");
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk;
  return { status: answer.statusCode!, text, cookie: answer.headers["set-cookie"]?.[0] };
}
