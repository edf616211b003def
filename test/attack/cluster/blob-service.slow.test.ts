// A hostile or wrong S3 service behind a cluster: it answers with what was not asked for, and neither
// deletes other blobs, nor blocks the server, nor gets its credentials to another host.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import type { BlobBackend } from "../../../src/cluster/backend/backend.ts";
import { openBlobBackend } from "../../../src/cluster/open-backend.ts";
import { newPlace, read, write } from "../../contracts/blob-backend/setup.ts";
import { assertBytes, sampleBytes, toArray } from "../../support/bytes.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown;

interface Service {
  readonly backend: BlobBackend;
  readonly objects: Map<string, Buffer>;
  readonly requests: string[];
  /** Answers the next requests instead of the service. Undefined: the service answers honestly. */
  hostile: Handler | undefined;
}

async function listenTo(t: TestContext, handler: Handler): Promise<number> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    await handler(request, response, Buffer.concat(chunks));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A service with the requests that blobs need, as small as possible. */
function answerHonestly(objects: Map<string, Buffer>): Handler {
  return (request, response, body) => {
    const url = new URL(request.url!, "http://service");
    const key = decodeURIComponent(url.pathname.slice("/shelf/".length));
    const found = objects.get(key);
    if (request.method === "PUT") {
      objects.set(key, body);
      return response.end();
    }
    if (request.method === "DELETE") {
      objects.delete(key);
      return response.writeHead(204).end();
    }
    if (url.searchParams.has("list-type")) {
      const keys = [...objects.keys()].filter((one) => one.startsWith(url.searchParams.get("prefix")!));
      return response.end(listing(keys.map((one) => [one, objects.get(one)!.length])));
    }
    if (found === undefined) {
      return response.writeHead(404).end("<Error><Code>NoSuchKey</Code><Message>none</Message></Error>");
    }
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    if (first === undefined) return response.writeHead(200, { "content-length": found.length }).end(found);
    const part = found.subarray(Number(first), Number(last) + 1);
    const range = `bytes ${first}-${last}/${found.length}`;
    return response.writeHead(206, { "content-range": range, "content-length": part.length }).end(part);
  };
}

function listing(entries: readonly (readonly [string, number])[], token?: string): string {
  const contents = entries.map(([key, size]) => `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`);
  const end =
    token === undefined
      ? "<IsTruncated>false</IsTruncated>"
      : `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;
  return `<ListBucketResult>${contents.join("")}${end}</ListBucketResult>`;
}

const times = { connect: 1000, answer: 1000, idle: 300, retry: 1500 };

async function startService(t: TestContext): Promise<Service> {
  const objects = new Map<string, Buffer>();
  const honest = answerHonestly(objects);
  const requests: string[] = [];
  const service: { hostile: Handler | undefined } = { hostile: undefined };
  const port = await listenTo(t, (request, response, body) => {
    requests.push(`${request.method} ${request.url}`);
    return (service.hostile ?? honest)(request, response, body);
  });
  const url = `s3://KEY:SECRETSECRET@127.0.0.1:${port}/shelf?tls=false`;
  const pieces = { maxBlocks: 2, minBlocks: 2, bytes: 16 * 1024 * 1024 };
  const backend = await openBlobBackend(url, { marker: "make", times, pieces });
  t.after(() => backend.close());
  return Object.assign(service, { backend, objects, requests });
}

const refused = (message: RegExp) => ({ reason: "ServiceUnavailable", message });

test("a listing with keys that were not requested removes nothing", async (t) => {
  const service = await startService(t);
  const { backend, objects, requests } = service;
  const kept = await write(backend, sampleBytes(300_000));
  const before = [...objects.keys()];
  const every = listing(before.map((key) => [key, objects.get(key)!.length]));
  const honest = answerHonestly(objects);
  // As a service that ignores the parameter "prefix".
  service.hostile = (request, response, body) =>
    request.url!.includes("list-type") ? response.end(every) : honest(request, response, body);
  await assert.rejects(backend.removeLeftovers(newPlace()), refused(/keys that were not requested/));
  await assert.rejects(toArray(backend.all(newPlace().bucket)), refused(/keys that were not requested/));
  assert.deepEqual([...objects.keys()], before);
  assert.deepEqual(
    requests.filter((one) => one.startsWith("DELETE")),
    [],
  );
  service.hostile = undefined;
  assertBytes(await read(backend, kept), sampleBytes(300_000));
  await backend.removeLeftovers(kept);
  assert.deepEqual([...objects.keys()], ["store-shelf"]);
});

test("listings that are cut off, endless, or too long are refused", async (t) => {
  const service = await startService(t);
  const { backend } = service;
  const place = newPlace();
  const key = `${place.bucket}/${place.name}`;
  const answers: readonly (readonly [string, RegExp])[] = [
    ["<Contents>".repeat(1_500_000), /cut off/],
    [`<Contents><Key>${key}</Key></Contents><IsTruncated>false</IsTruncated>`, /cannot be read/],
    [listing([], undefined).replace(/<IsTruncated>.*?<\/IsTruncated>/, ""), /no valid IsTruncated/],
    [listing([[key, 1]], "again"), /names itself as the next page/],
    [listing(Array.from({ length: 1001 }, (_, i) => [`${key}.${i}`, 1])), /not requested/],
    ["x".repeat(17 * 1024 * 1024), /document is longer|in time/],
  ];
  for (const [document, message] of answers) {
    service.hostile = (_, response) => response.end(document);
    await assert.rejects(toArray(backend.all(place.bucket)), refused(message));
  }
});
