// AWS Signature Version 4: canonical requests, signatures and presigned URLs. Pure.
import { Buffer } from "node:buffer";
import { createHmac, hash } from "node:crypto";
import { parseIsoTime } from "../model/iso-time.ts";

/** Day, region and service that a signing key is valid for. */
export interface Scope {
  /** `YYYYMMDD` */
  readonly day: string;
  readonly region: string;
  readonly service: string;
}

export interface Signable {
  readonly method: string;
  /** Percent-encoded exactly once; only unreserved characters stay as they are. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Sorted lowercase names; values as sent, with one character per byte. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly payloadHash: string;
}

export const algorithm = "AWS4-HMAC-SHA256";
export const unsignedPayload = "UNSIGNED-PAYLOAD";
export const emptyHash = sha256("");

export function canonicalRequest(request: Signable): string {
  return canonicalText({ ...request, query: canonicalQuery(request.query) });
}

/** Encodes and sorts decoded names and values as the signature requires. */
export function canonicalQuery(query: Signable["query"]): string {
  const pairs = query.map(([name, value]) => [encodeText(name), encodeText(value)] as const);
  pairs.sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]));
  return pairs.map(([name, value]) => `${name}=${value}`).join("&");
}

/** Returns the canonical request. The query must already be canonical. */
export function canonicalText(request: Omit<Signable, "query"> & { readonly query: string }): string {
  const { method, path, query, headers, payloadHash } = request;
  const names = headers.map(([name]) => name).join(";");
  let lines = "";
  for (const [name, value] of headers) lines += `${name}:${withSingleSpaces(value.trim())}\n`;
  return `${method}\n${path}\n${query}\n${lines}\n${names}\n${payloadHash}`;
}

function withSingleSpaces(text: string): string {
  return text.includes("  ") ? text.replace(/ +/g, " ") : text;
}

export function scopeText({ day, region, service }: Scope): string {
  return `${day}/${region}/${service}/aws4_request`;
}

export function stringToSign(time: string, scope: Scope, canonical: string): string {
  return `${algorithm}\n${time}\n${scopeText(scope)}\n${sha256(Buffer.from(canonical, "latin1"))}`;
}

export function signingKey(secret: string, { day, region, service }: Scope): Buffer {
  const steps = [day, region, service, "aws4_request"];
  return steps.reduce<Buffer>((key, step) => hmac(key, step), Buffer.from(`AWS4${secret}`));
}

const blockBytes = 64;
const hashBytes = 32;

/** The key of an HMAC, combined with the inner and the outer padding (RFC 2104). */
interface Pads {
  readonly inner: Buffer;
  /** Outer padding, followed by space for the inner hash. */
  readonly outer: Buffer;
}

const padsByKey = new WeakMap<Uint8Array, Pads>();

function cachedPads(key: Uint8Array): Pads {
  const cached = padsByKey.get(key);
  if (cached !== undefined) return cached;
  const pads = { inner: Buffer.alloc(blockBytes, 0x36), outer: Buffer.alloc(blockBytes + hashBytes, 0x5c) };
  for (const pad of Object.values(pads)) for (const [i, byte] of key.entries()) pad[i]! ^= byte;
  padsByKey.set(key, pads);
  return pads;
}

/** Computes HMAC-SHA256 with two hashes: twice as fast as node:crypto's Hmac for short texts. */
export function sign(key: Uint8Array, text: string): string {
  // HMAC first hashes a key that is longer than a block: leave this rare case to node:crypto.
  if (key.length > blockBytes) return createHmac("sha256", key).update(text, "latin1").digest("hex");
  const { inner, outer } = cachedPads(key);
  const bytes = Buffer.allocUnsafe(blockBytes + text.length);
  bytes.set(inner);
  bytes.write(text, blockBytes, "latin1");
  outer.write(hash("sha256", bytes, "binary"), blockBytes, "latin1");
  return hash("sha256", outer);
}

export function sha256(bytes: Uint8Array | string): string {
  return hash("sha256", bytes);
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

const unreserved = /^[A-Za-z0-9_.~-]*$/;

/** Percent-encodes the text as UTF-8, except unreserved characters (RFC 3986 2.3). */
export function encodeText(text: string): string {
  if (unreserved.test(text)) return text;
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Percent-encodes a key as a path: slashes are not encoded. */
export function encodePath(text: string): string {
  return text.split("/").map(encodeText).join("/");
}

/** Formats a time as `YYYYMMDDTHHMMSSZ`. */
export function amzTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/[-:]|\.\d{3}/g, "");
}

/** Parses `YYYYMMDDTHHMMSSZ`; returns undefined if the text has another form. */
export function parseAmzTime(text: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  return parseIsoTime(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Endpoint of the S3 API, and the access key that signs URLs. */
export interface S3Access {
  /** `http://host:port`, without a path. */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface PresignRequest extends S3Access {
  readonly method: string;
  /** Percent-encoded. */
  readonly path: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly region: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly expiresInSeconds: number;
}

/** Returns a URL that is authorized by its own signature until it expires. */
export function presign(request: PresignRequest): string {
  const { endpoint, method, path, accessKeyId, secretAccessKey, region, expiresInSeconds } = request;
  const time = amzTime(request.time);
  const scope: Scope = { day: time.slice(0, 8), region, service: "s3" };
  const host = endpoint.replace(/^https?:\/\//, "");
  const query: (readonly [string, string])[] = [
    ...(request.query ?? []),
    ["X-Amz-Algorithm", algorithm],
    ["X-Amz-Content-Sha256", unsignedPayload],
    ["X-Amz-Credential", `${accessKeyId}/${scopeText(scope)}`],
    ["X-Amz-Date", time],
    ["X-Amz-Expires", String(expiresInSeconds)],
    ["X-Amz-SignedHeaders", "host"],
  ];
  const canonical = canonicalRequest({
    method,
    path,
    query,
    headers: [["host", host]],
    payloadHash: unsignedPayload,
  });
  const signature = sign(signingKey(secretAccessKey, scope), stringToSign(time, scope, canonical));
  const text = query.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`).join("&");
  return `${endpoint}${path}?${text}&X-Amz-Signature=${signature}`;
}
