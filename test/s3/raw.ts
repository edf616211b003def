// Builds, signs and sends S3 requests without an SDK, so that tests can change any part.
import { createHash } from "node:crypto";
import { type IncomingHttpHeaders, request as send } from "node:http";
import {
  amzTime,
  canonicalRequest,
  encodeText,
  scopeText,
  sha256,
  sign,
  signingKey,
  stringToSign,
} from "../../src/http/sigv4.ts";
import type { Key } from "./scene.ts";

export interface Raw {
  readonly method: string;
  /** The path of the request, percent-encoded. */
  readonly path: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Loopback address of the client, to simulate different clients. */
  readonly from?: string;
}

export interface Signing {
  readonly key: Key;
  readonly form: "header" | "query";
  /** Milliseconds since the epoch; default: now. */
  readonly time?: number;
  /** The time as it is sent, instead of `time`. */
  readonly timeText?: string;
  readonly expires?: number;
  /**
   * Value of x-amz-content-sha256. Default: the body's hash, or UNSIGNED-PAYLOAD in a presigned
   * URL.
   */
  readonly payload?: string;
  readonly region?: string;
  /** Default: s3. */
  readonly service?: "s3" | "sts";
}

export interface Signed extends Raw {
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signature: string;
  readonly seed: { readonly key: Uint8Array; readonly time: string; readonly scope: string };
}

export function signRaw(url: string, raw: Raw, signing: Signing): Signed {
  const { key, form, region = "auto", service = "s3" } = signing;
  const { sessionToken } = key;
  const time = signing.timeText ?? amzTime(signing.time ?? Date.now());
  const scope = { day: time.slice(0, 8), region, service };
  const host = new URL(url).host;
  const payload =
    signing.payload ?? (form === "query" ? "UNSIGNED-PAYLOAD" : sha256(raw.body ?? new Uint8Array()));
  const headers: Record<string, string> = { host, ...lower(raw.headers ?? {}) };
  let query: (readonly [string, string])[] = [...(raw.query ?? [])];
  if (form === "header") {
    headers["x-amz-date"] = time;
    headers["x-amz-content-sha256"] = payload;
    if (sessionToken !== undefined) headers["x-amz-security-token"] = sessionToken;
  }
  const names = Object.keys(headers).sort();
  const credential = `${key.accessKeyId}/${scopeText(scope)}`;
  if (form === "query") {
    query = [
      ...query,
      ["X-Amz-Algorithm", "AWS4-HMAC-SHA256"],
      ["X-Amz-Credential", credential],
      ["X-Amz-Date", time],
      ["X-Amz-Expires", String(signing.expires ?? 300)],
      ["X-Amz-SignedHeaders", names.join(";")],
      ["X-Amz-Content-Sha256", payload],
      ...(sessionToken === undefined ? [] : [["X-Amz-Security-Token", sessionToken] as const]),
    ];
  }
  const canonical = canonicalRequest({
    method: raw.method,
    path: raw.path,
    query,
    headers: names.map((name) => [name, headers[name]!]),
    payloadHash: payload,
  });
  const bytes = signingKey(key.secretAccessKey, scope);
  const signature = sign(bytes, stringToSign(time, scope, canonical));
  if (form === "query") query.push(["X-Amz-Signature", signature]);
  else {
    headers.authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  }
  return { ...raw, query, headers, signature, seed: { key: bytes, time, scope: scopeText(scope) } };
}

function lower(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The code in the error document, if the response is an error. */
  readonly code: string | undefined;
}

export function sendRaw(url: string, raw: Raw): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const query = (raw.query ?? [])
    .map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`)
    .join("&");
  const path = query === "" ? raw.path : `${raw.path}?${query}`;
  return new Promise((resolve, reject) => {
    const outgoing = send({
      hostname,
      port,
      method: raw.method,
      path,
      headers: { ...raw.headers },
      agent: false,
      ...(raw.from === undefined ? {} : { localAddress: raw.from }),
    });
    outgoing.setTimeout(20_000, () => outgoing.destroy(new Error(`No response: ${raw.method} ${path}`)));
    outgoing.on("error", reject);
    outgoing.on("response", async (incoming) => {
      try {
        const pieces: Buffer[] = [];
        for await (const piece of incoming) pieces.push(piece as Buffer);
        const text = Buffer.concat(pieces).toString();
        const code = /<Error>.*?<Code>(\w+)<\/Code>/s.exec(text)?.[1];
        resolve({ status: incoming.statusCode!, headers: incoming.headers, text, code });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.end(raw.body);
  });
}

export type ChunkFault =
  | "none"
  | "truncated"
  | "oversized"
  | "wrong signature"
  | "no end"
  | "no trailer"
  | "bytes after the end";

export interface Chunking {
  readonly isSigned: boolean;
  readonly hasTrailer: boolean;
  readonly fault?: ChunkFault;
}

export const streamingForms: Readonly<Record<string, Chunking>> = {
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD": { isSigned: true, hasTrailer: false },
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER": { isSigned: true, hasTrailer: true },
  "STREAMING-UNSIGNED-PAYLOAD": { isSigned: false, hasTrailer: false },
  "STREAMING-UNSIGNED-PAYLOAD-TRAILER": { isSigned: false, hasTrailer: true },
};

const trailer = "x-amz-checksum-sha256";

/** Signs a request with an aws-chunked body that contains the given fault. */
export function signChunked(
  url: string,
  raw: Raw,
  key: Key,
  payload: string,
  fault: ChunkFault = "none",
): Signed {
  const { isSigned, hasTrailer } = streamingForms[payload]!;
  const body = raw.body ?? new Uint8Array();
  const headers = {
    ...raw.headers,
    "x-amz-decoded-content-length": String(body.length),
    ...(hasTrailer ? { "x-amz-trailer": trailer } : {}),
  };
  const { body: _, ...bare } = raw;
  const signed = signRaw(url, { ...bare, headers }, { key, form: "header", payload });
  let previous = signed.signature;
  const pieces: Buffer[] = [];
  const chunk = (bytes: Uint8Array) => {
    const hash = createHash("sha256").update(bytes).digest("hex");
    const { time, scope } = signed.seed;
    const empty = sha256("");
    previous = sign(
      signed.seed.key,
      ["AWS4-HMAC-SHA256-PAYLOAD", time, scope, previous, empty, hash].join("\n"),
    );
    const sentSignature =
      fault === "wrong signature" ? previous.replace(/./g, (c) => (c === "0" ? "1" : "0")) : previous;
    const size = fault === "oversized" && bytes.length > 0 ? "fffffffffffffff" : bytes.length.toString(16);
    pieces.push(
      Buffer.from(isSigned ? `${size};chunk-signature=${sentSignature}\r\n` : `${size}\r\n`),
      Buffer.from(bytes),
    );
  };
  for (let at = 0; at < body.length; at += 8192) {
    const bytes = body.subarray(at, at + 8192);
    chunk(bytes);
    pieces.push(Buffer.from("\r\n"));
  }
  if (fault === "truncated") pieces.splice(-2, 2, pieces.at(-2)!.subarray(0, -1));
  else if (fault !== "no end") {
    chunk(new Uint8Array());
    if (hasTrailer && fault !== "no trailer") pieces.push(formatTrailer(body, signed, previous, isSigned));
    pieces.push(Buffer.from("\r\n"));
    if (fault === "bytes after the end") pieces.push(Buffer.from("more"));
  }
  return { ...signed, body: Buffer.concat(pieces) };
}

function formatTrailer(body: Uint8Array, signed: Signed, previous: string, isSigned: boolean): Buffer {
  const value = createHash("sha256").update(body).digest("base64");
  const line = `${trailer}:${value}`;
  if (!isSigned) return Buffer.from(`${line}\r\n`);
  const { key, time, scope } = signed.seed;
  const text = ["AWS4-HMAC-SHA256-TRAILER", time, scope, previous, sha256(`${line}\n`)].join("\n");
  return Buffer.from(`${line}\r\nx-amz-trailer-signature:${sign(key, text)}\r\n`);
}
