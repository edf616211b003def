// One request to an S3 service, signed, and the head of its answer: in time, or not at all. Every step has a time
// after which the socket is destroyed: nothing waits for ever on a service that has fallen silent.
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
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
} from "../http/signing.ts";
import type { Leaving } from "./s3-body.ts";
import { S3Broken, S3Silence } from "./s3-errors.ts";

export interface S3Place {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  readonly tls: boolean;
  readonly region: string;
  readonly bucket: string;
  /** What every key begins with: empty, or ending in a slash. */
  readonly prefix: string;
}

/** In milliseconds. */
export interface S3Times {
  readonly connect: number;
  /** From the end of the request to the head of its answer. */
  readonly answer: number;
  /** Without a byte of a body, either way. */
  readonly idle: number;
  /** For how long a request is made again; and a read without a new byte. */
  readonly retry: number;
}

export const usualTimes: S3Times = { connect: 3000, answer: 10_000, idle: 10_000, retry: 15_000 };

export interface S3Request {
  readonly method: "GET" | "PUT" | "HEAD" | "DELETE";
  /** Undefined for the bucket itself. */
  readonly key?: string;
  readonly query?: readonly (readonly [string, string])[];
  /** Lowercase names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: S3Payload;
  readonly leaving?: Leaving | undefined;
}

/** In parts, so that nobody need lay them together; kept by the caller until the answer has come. */
export interface S3Payload {
  readonly parts: readonly Uint8Array[];
  readonly length: number;
  /** In hex: bytes damaged on the way are refused. Half of what an MD5 costs. */
  readonly sha256: string;
}

export interface S3Wire {
  /** `host:port`, for messages. */
  readonly host: string;
  /** The head of the answer, within the times and before `deadline` (of `performance.now`). */
  send(request: S3Request, deadline: number): Promise<IncomingMessage>;
  /** Lets go of connections that are kept: after a silence, none of them is to be trusted. */
  dropKept(): void;
  close(): void;
}

export function hostText({ hostname, port, tls }: Pick<S3Place, "hostname" | "port" | "tls">): string {
  const name = hostname.includes(":") ? `[${hostname}]` : hostname;
  return port === (tls ? 443 : 80) ? name : `${name}:${port}`;
}

export function createS3Wire(place: S3Place, times: S3Times): S3Wire {
  const host = hostText(place);
  const { hostname, port } = place;
  const kept = { keepAlive: true, maxFreeSockets: 256 };
  const agent = place.tls ? new SecureAgent(kept) : new Agent(kept);
  const makeRequest = place.tls ? secureRequest : httpRequest;
  const signHeaders = createSigner(place, host);

  function open(request: S3Request): ClientRequest {
    const { method, key, query = [], body } = request;
    const path = encodePath(key === undefined ? `/${place.bucket}` : `/${place.bucket}/${key}`);
    const text = query.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`).join("&");
    const headers: Record<string, string> = { ...request.headers, host };
    if (body !== undefined) headers["content-length"] = String(body.length);
    const signed = signHeaders({ method, path, query, headers, payloadHash: body?.sha256 ?? emptyHash });
    const target = text === "" ? path : `${path}?${text}`;
    return makeRequest({ hostname, port, agent, method, path: target, headers: signed });
  }

  return {
    host,
    send: (request, deadline) =>
      new Promise((resolve, reject) => {
        const message = open(request);
        const { leaving } = request;
        if (leaving !== undefined)
          leaving.cut = () => message.destroy(new S3Broken("nobody wants it any more"));
        let timer: NodeJS.Timeout | undefined;
        /** Something is due within the time given for it; what was due before has come. */
        const expect = (what: string, milliseconds: number) => {
          clearTimeout(timer);
          timer = setTimeout(
            () => message.destroy(new S3Silence(`${what} within the time for it`)),
            milliseconds,
          );
        };
        const within = (milliseconds: number) =>
          Math.max(1, Math.min(milliseconds, deadline - performance.now()));
        const begin = () => {
          const awaitAnswer = () => expect("no answer came", within(times.answer));
          const onMoved = () => expect("the bytes were not taken", times.idle);
          sendParts(message, request.body?.parts ?? [], { onMoved, onSent: awaitAnswer });
        };
        message.once("socket", (socket) => {
          if (!socket.connecting) {
            begin();
            return;
          }
          expect("no connection was made", within(times.connect));
          socket.once(place.tls ? "secureConnect" : "connect", begin);
        });
        message.once("response", (response) => {
          clearTimeout(timer);
          if (leaving !== undefined) leaving.cut = undefined;
          // Whoever reads it listens too; until then a broken connection has nobody to tell.
          response.on("error", () => {});
          // Refused before all of it was taken: the rest is not sent, so the connection cannot serve again.
          response.once("end", () => {
            if (!message.writableFinished) message.destroy();
          });
          resolve(response);
        });
        message.on("error", (error) => {
          clearTimeout(timer);
          reject(error);
        });
      }),
    dropKept() {
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
    },
    close: () => agent.destroy(),
  };
}

/** Written together, and told of when they are out. */
const partsAtOnce = 4;

function sendParts(
  message: ClientRequest,
  parts: readonly Uint8Array[],
  { onMoved, onSent }: { readonly onMoved: () => void; readonly onSent: () => void },
): void {
  let next = 0;
  function sendSome(): void {
    onMoved();
    const some = parts.slice(next, next + partsAtOnce);
    next += some.length;
    if (some.length === 0) {
      message.end(onSent);
      return;
    }
    message.cork();
    for (const [index, part] of some.entries()) {
      if (index < some.length - 1) message.write(part);
      // A failure is told as the request's own.
      else message.write(part, (error) => error ?? sendSome());
    }
    message.uncork();
  }
  sendSome();
}

interface Unsigned {
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly payloadHash: string;
}

function createSigner({ accessKeyId, secretAccessKey, region }: S3Place, host: string) {
  let key: { readonly day: string; readonly bytes: Buffer } | undefined;
  let second = 0;
  let time = "";
  return ({ method, path, query, headers, payloadHash }: Unsigned): Record<string, string> => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) time = amzTime(now * 1000);
    second = now;
    const scope: Scope = { day: time.slice(0, 8), region, service: "s3" };
    if (key?.day !== scope.day) key = { day: scope.day, bytes: signingKey(secretAccessKey, scope) };
    const sent = { ...headers, host, "x-amz-content-sha256": payloadHash, "x-amz-date": time };
    const sorted = Object.entries(sent).sort(([a], [b]) => (a < b ? -1 : 1));
    const canonical = canonicalRequest({ method, path, query, headers: sorted, payloadHash });
    const signature = sign(key.bytes, stringToSign(time, scope, canonical));
    const names = sorted.map(([name]) => name).join(";");
    const credential = `${accessKeyId}/${scopeText(scope)}`;
    const authorization = `${algorithm} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
    return { ...sent, authorization };
  };
}
