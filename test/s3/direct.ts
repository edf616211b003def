// Calls the S3 handler without a server, on an in-memory engine, with any client address and
// headers.

import {
  type Credentials,
  createCredentials,
  type NewCredential,
} from "../../src/access/keys/credentials.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Documents } from "../../src/engine/records.ts";
import type { HttpBody, HttpRequest } from "../../src/http/server/listen.ts";
import { encodeText } from "../../src/http/sigv4.ts";
import { openEngine } from "../../src/open.ts";
import { createS3Handler, type S3Options } from "../../src/s3/handler.ts";
import { type Raw, type Signing, signRaw } from "./raw.ts";
import type { Key } from "./scene.ts";

export interface DirectAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The code in the error document, if the response is an error. */
  readonly code: string | undefined;
}

export interface DirectRequest extends Raw {
  /** Body as a stream, instead of `body`. */
  readonly stream?: (() => AsyncIterable<Uint8Array>) | undefined;
  readonly address?: string;
  readonly scheme?: "http" | "https";
  /** Unsigned headers, appended after the signed headers. */
  readonly moreHeaders?: readonly string[];
}

export interface DirectScene {
  readonly engine: Engine;
  readonly documents: Documents;
  readonly credentials: Credentials;
  /** An access key with full access to the account `default`. */
  readonly key: Key;
  newKey(options?: NewCredential): Promise<Key>;
  /** Sends a request without signing it. */
  send(request: DirectRequest): Promise<DirectAnswer>;
  /** Signs a request and sends it. Default: signed with `key`, in the Authorization header. */
  ask(request: DirectRequest, signing?: Partial<Signing>): Promise<DirectAnswer>;
}

const url = "http://s3.test";
export const secretKey = new Uint8Array(32).fill(7);

export async function directScene(
  t: { after(run: () => Promise<void>): void },
  options: Partial<S3Options> = {},
  store?: Pick<DirectScene, "engine" | "documents">,
): Promise<DirectScene> {
  const { engine, documents } = store ?? (await openEngine("memory:"));
  if (store === undefined) t.after(() => engine.close());
  const credentials = createCredentials(documents, secretKey, Date.now);
  const key = await credentials.create();
  const handler = createS3Handler({
    ...{ engine, credentials, domains: [], now: Date.now, log: () => {} },
    ...options,
  });
  const send = async (request: DirectRequest): Promise<DirectAnswer> => {
    const { status, headers, body, onSent } = await handler(httpRequest(request));
    const text = await readText(body);
    onSent?.(text.length, true);
    const code = /<Error>.*?<Code>(\w+)<\/Code>/s.exec(text)?.[1];
    return { status, headers: Object.fromEntries(headers), text, code };
  };
  return {
    ...{ engine, documents, credentials, key, send },
    newKey: (created) => credentials.create(created),
    ask: (request, signing) =>
      send({ ...request, ...signRaw(url, request, { key, form: "header", ...signing }) }),
  };
}

function httpRequest(request: DirectRequest): HttpRequest {
  const { method, path, query = [], headers = {}, body, stream, moreHeaders = [] } = request;
  const search = query.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`).join("&");
  const rawHeaders = [...Object.entries(headers).flat(), ...moreHeaders];
  const byName = new Map<string, string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!byName.has(name)) byName.set(name, rawHeaders[i + 1]!);
  }
  if (body !== undefined && !byName.has("content-length")) byName.set("content-length", String(body.length));
  async function* bytes(): AsyncGenerator<Uint8Array> {
    if (body !== undefined) yield body;
  }
  return {
    method,
    target: search === "" ? path : `${path}?${search}`,
    rawHeaders,
    header: (name) => byName.get(name),
    scheme: request.scheme ?? "http",
    address: () => request.address ?? "127.0.0.1",
    hasBody: body !== undefined || stream !== undefined,
    body: stream ?? bytes,
    bytesRead: () => 0,
    onDisconnect: () => {},
  };
}

async function readText(body: HttpBody): Promise<string> {
  if (body === null) return "";
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const pieces: Buffer[] = [];
  for await (const chunk of body.chunks()) pieces.push(Buffer.from(chunk));
  return Buffer.concat(pieces).toString();
}
