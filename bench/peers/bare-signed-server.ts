// A process with the least that a durable S3 put needs: a node:http server that verifies presigned
// URLs and appends bodies to a log, with one fdatasync for all that arrived meanwhile. It keeps no
// index, reads nothing back and knows only PUT.
import { timingSafeEqual } from "node:crypto";
import { fdatasync, openSync, writev } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { canonicalRequest, sign, signingKey, stringToSign } from "../../src/http/sigv4.ts";

interface Write {
  readonly body: Buffer;
  readonly onSynced: () => void;
}

const [, , logPath, secret] = process.argv as [string, string, string, string];
const log = openSync(logPath, "w");
const signingKeys = new Map<string, Buffer>();
let waiting: Write[] = [];
let isSyncing = false;

function isSigned({ method = "", url = "", headers }: IncomingMessage): boolean {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const given = Buffer.from(searchParams.get("X-Amz-Signature") ?? "");
  searchParams.delete("X-Amz-Signature");
  const [, day = "", region = "", service = ""] = (searchParams.get("X-Amz-Credential") ?? "").split("/");
  const canonical = canonicalRequest({
    method,
    path: pathname,
    query: [...searchParams],
    headers: [["host", headers.host ?? ""]],
    payloadHash: "UNSIGNED-PAYLOAD",
  });
  const scope = { day, region, service };
  const key = signingKeys.get(day + region) ?? signingKey(secret, scope);
  signingKeys.set(day + region, key);
  const text = stringToSign(searchParams.get("X-Amz-Date") ?? "", scope, canonical);
  const expected = Buffer.from(sign(key, text));
  return expected.length === given.length && timingSafeEqual(expected, given);
}

function commit(write: Write): void {
  waiting.push(write);
  if (!isSyncing) syncWaiting();
}

function syncWaiting(): void {
  const group = waiting;
  waiting = [];
  isSyncing = group.length > 0;
  if (!isSyncing) return;
  const bodies = group.map(({ body }) => body);
  writev(log, bodies, (writeError) => {
    if (writeError !== null) throw writeError;
    fdatasync(log, (syncError) => {
      if (syncError !== null) throw syncError;
      for (const { onSynced } of group) onSynced();
      syncWaiting();
    });
  });
}

const server = createServer((request, response) => {
  if (request.method !== "PUT" || !isSigned(request)) {
    response.writeHead(403, { "content-length": "0" }).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const onSynced = () => response.writeHead(200, { "content-length": "0" }).end();
    commit({ body: Buffer.concat(chunks), onSynced });
  });
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});
