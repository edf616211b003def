// The S3 API without a socket: signs requests as clients do, passes them to the handler as plain
// data and returns the response as plain data.

import type { Credential } from "../../../src/access/keys/credentials.ts";
import type { HttpBody, HttpHandler, HttpRequest, HttpResponse } from "../../../src/http/server/listen.ts";
import {
  amzTime,
  canonicalRequest,
  encodePath,
  encodeText,
  scopeText,
  sha256,
  sign,
  signingKey,
  stringToSign,
} from "../../../src/http/sigv4.ts";
import { type Raw, signChunked } from "../../s3/raw.ts";
import { bytesOf, digestOf } from "../../support/bodies.ts";
import { collect } from "../../support/bytes.ts";
import { bucketName, type S3Call } from "./operation.ts";

export type S3Handler = HttpHandler;

const url = "http://model.test";
const secretAccessKey = "model".repeat(8);

export const accessKey: Credential = {
  accessKeyId: "STOREMODELMODELMODEL",
  secretAccessKey,
  secrets: [secretAccessKey],
  account: "default",
  grants: undefined,
  created: 0,
  expires: undefined,
  previousUntil: undefined,
  state: "active",
};

const payloads = {
  chunked: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
  "chunked, with trailer": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
} as const;

export async function callS3(handler: S3Handler, call: S3Call): Promise<unknown> {
  const response = await handler(requestOf(signed(call)));
  const headers = [...response.headers].filter(([name]) => name !== "x-amz-request-id");
  return { status: response.status, headers, body: await told(response, call.method) };
}

function signed({ method, key, query, headers, body, payload = "signed" }: S3Call): Raw {
  const path = encodePath(key === undefined ? `/${bucketName}` : `/${bucketName}/${key}`);
  const bytes = typeof body === "string" ? Buffer.from(body) : body && bytesOf("", bodyValue(body));
  const raw: Raw = {
    method,
    path,
    headers: { ...headers },
    ...(query === undefined ? {} : { query }),
    ...(bytes === undefined ? {} : { body: bytes }),
  };
  if (payload === "chunked" || payload === "chunked, with trailer") {
    return signChunked(url, raw, accessKey, payloads[payload]);
  }
  return signLightly(raw, payload === "unsigned" ? "UNSIGNED-PAYLOAD" : sha256(bytes ?? ""));
}

let today: { readonly scope: Parameters<typeof scopeText>[0]; readonly key: Uint8Array } | undefined;

/** Like `signRaw`, but caches the signing key of the day: a long run signs a million requests. */
function signLightly(raw: Raw, payload: string): Raw {
  const time = amzTime(Date.now());
  const day = time.slice(0, 8);
  if (today?.scope.day !== day) {
    const scope = { day, region: "auto", service: "s3" };
    today = { scope, key: signingKey(secretAccessKey, scope) };
  }
  const { scope, key } = today;
  const headers: Record<string, string> = {
    ...raw.headers,
    host: "model.test",
    "x-amz-date": time,
    "x-amz-content-sha256": payload,
  };
  const names = Object.keys(headers).sort();
  const canonical = canonicalRequest({
    method: raw.method,
    path: raw.path,
    query: raw.query ?? [],
    headers: names.map((name) => [name, headers[name]!]),
    payloadHash: payload,
  });
  const signature = sign(key, stringToSign(time, scope, canonical));
  const credential = `${accessKey.accessKeyId}/${scopeText(scope)}`;
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { ...raw, headers };
}

export function bodyValue({ name, size }: { readonly name: number; readonly size: number }) {
  return { name: String(name), size };
}

function requestOf({ method, path, query = [], headers, body }: Raw): HttpRequest {
  const asked = query.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`).join("&");
  const all: Record<string, string> = { ...headers };
  if (body !== undefined) all["content-length"] = String(body.length);
  return {
    method,
    target: asked === "" ? path : `${path}?${asked}`,
    rawHeaders: Object.entries(all).flat(),
    scheme: "http",
    address: () => "",
    header: (name) => all[name],
    hasBody: body !== undefined,
    async *body() {
      if (body !== undefined && body.length > 0) yield body;
    },
    bytesRead: () => 0,
    onDisconnect() {},
  };
}

/** Returns the body for comparison: XML without the request ID, other bodies by size and digest. */
async function told({ body, status }: HttpResponse, method: string): Promise<unknown> {
  if (typeof body === "string") return body.replace(/<RequestId>\w*<\/RequestId>/, "");
  if (body === null) return null;
  if (method === "HEAD" || status === 304) {
    if (!(body instanceof Uint8Array)) await body.cancel(undefined);
    return null;
  }
  const bytes = await bytesOfBody(body);
  return { size: bytes.length, digest: digestOf(bytes) };
}

async function bytesOfBody(body: Exclude<HttpBody, string | null>): Promise<Uint8Array> {
  return body instanceof Uint8Array ? body : collect(body.chunks());
}
