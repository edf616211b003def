// Sends one signed request to an S3 service and returns the response head.
import type { Buffer } from "node:buffer";
import {
  algorithm,
  amzTime,
  canonicalRequest,
  emptyHash,
  encodePath,
  encodeText,
  type Scope,
  scopeText,
  sign,
  signingKey,
  stringToSign,
} from "../http/sigv4.ts";
import {
  type Answer,
  type Cancellation,
  createHttpClient,
  type HttpClient,
  type HttpClientTimes,
  type OutgoingRequest,
  type Service,
} from "./http-client.ts";

export interface S3Endpoint extends Service {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Session token of temporary credentials. */
  readonly sessionToken?: string | undefined;
  readonly region: string;
  /** Bucket of requests that do not name one. */
  readonly bucket: string;
  /** Prefix of every key: empty, or ending in a slash. */
  readonly prefix: string;
}

/** Timeouts in milliseconds. */
export interface S3Times extends HttpClientTimes {
  /** How long to retry a request, or a read that receives no new bytes. */
  readonly retry: number;
}

export const defaultS3Times: S3Times = { connect: 3000, answer: 10_000, idle: 10_000, retry: 15_000 };

export interface S3Request {
  readonly method: "GET" | "PUT" | "HEAD" | "DELETE" | "POST";
  /** Empty for a request to the service itself. Default: the bucket of the endpoint. */
  readonly bucket?: string;
  /** Undefined for a request to the bucket. */
  readonly key?: string;
  readonly query?: readonly (readonly [string, string])[];
  /** Headers by lowercase name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: S3Payload;
  readonly cancellation?: Cancellation | undefined;
}

/** The caller must not change the parts until the response has arrived. */
export interface S3Payload {
  readonly parts: readonly Uint8Array[];
  readonly length: number;
  /** SHA-256 in hex, by which the service detects damage in transit; twice as fast as MD5. */
  readonly sha256: string;
}

export interface S3Transport extends Omit<HttpClient, "send"> {
  /** `host:port` of the service, for messages. */
  readonly host: string;
  send(request: S3Request, deadline: number): Promise<Answer>;
}

export function formatHost({ hostname, port, tls }: Service): string {
  const name = hostname.includes(":") ? `[${hostname}]` : hostname;
  return port === (tls ? 443 : 80) ? name : `${name}:${port}`;
}

export function createS3Transport(endpoint: S3Endpoint, times: S3Times): S3Transport {
  const host = formatHost(endpoint);
  const service = createHttpClient(endpoint, times);
  const signHeaders = createSigner(endpoint, host);

  function toHttpRequest(request: S3Request): OutgoingRequest {
    const { method, key, query = [], body, cancellation } = request;
    const { bucket = endpoint.bucket } = request;
    const path = encodePath(key === undefined ? `/${bucket}` : `/${bucket}/${key}`);
    const text = query.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`).join("&");
    const plain: Record<string, string> = { ...request.headers, host };
    if (body !== undefined) plain["content-length"] = String(body.length);
    const headers = signHeaders({
      method,
      path,
      query,
      headers: plain,
      payloadHash: body?.sha256 ?? emptyHash,
    });
    const target = text === "" ? path : `${path}?${text}`;
    return { method, target, headers, parts: body?.parts ?? [], cancellation };
  }

  return { ...service, host, send: (request, deadline) => service.send(toHttpRequest(request), deadline) };
}

interface UnsignedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly payloadHash: string;
}

function createSigner(endpoint: S3Endpoint, host: string) {
  const { accessKeyId, secretAccessKey, sessionToken, region } = endpoint;
  const token = sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken };
  let key: { readonly day: string; readonly bytes: Buffer } | undefined;
  let second = 0;
  let time = "";
  return ({ method, path, query, headers, payloadHash }: UnsignedRequest): Record<string, string> => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) time = amzTime(now * 1000);
    second = now;
    const scope: Scope = { day: time.slice(0, 8), region, service: "s3" };
    if (key?.day !== scope.day) key = { day: scope.day, bytes: signingKey(secretAccessKey, scope) };
    const sent = { ...headers, ...token, host, "x-amz-content-sha256": payloadHash, "x-amz-date": time };
    const sorted = Object.entries(sent).sort(([a], [b]) => (a < b ? -1 : 1));
    const canonical = canonicalRequest({ method, path, query, headers: sorted, payloadHash });
    const signature = sign(key.bytes, stringToSign(time, scope, canonical));
    const names = sorted.map(([name]) => name).join(";");
    const credential = `${accessKeyId}/${scopeText(scope)}`;
    const authorization = `${algorithm} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
    return { ...sent, authorization };
  };
}
