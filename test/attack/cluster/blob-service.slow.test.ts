// A hostile or wrong S3 service behind a cluster: it answers with what was not asked for, and neither
// deletes other blobs, nor blocks the server, nor gets its credentials to another host.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import type { BlobBackend } from "../../../src/cluster/backend/backend.ts";
import { openBlobBackend } from "../../../src/cluster/open-backend.ts";
import { openObjectStore } from "../../../src/repository/object-store.ts";
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

/** Answers to a read of a body, of which none may become bytes of the body. */
const wrongBodies: Readonly<Record<string, (honest: Handler) => Handler>> = {
  "other bytes of the same length": (honest) => (request, response, body) => {
    const end = response.end.bind(response);
    response.end = ((bytes?: Buffer) =>
      end(bytes && Buffer.from(bytes.map((byte) => byte ^ 1)))) as typeof response.end;
    return honest(request, response, body);
  },
  "another object": (honest) => (request, response, body) => {
    request.url = request.url!.replace(/[0-9a-f]{32}.*/, "store-shelf");
    return honest(request, response, body);
  },
  "a shorter body": () => (_, response) =>
    response.writeHead(200, { "content-length": 10 }).end("0123456789"),
  "an etag and no length": () => (_, response) => {
    response.writeHead(200, { etag: '"0"' });
    response.end("bytes without a length");
  },
  "an error document with status 200": () => (_, response) =>
    response.end("<Error><Code>InternalError</Code><Message>late</Message></Error>"),
  "the whole object for a range": (honest) => (request, response, body) => {
    delete request.headers.range;
    return honest(request, response, body);
  },
  "a range elsewhere": () => (_, response) =>
    response.writeHead(206, { "content-range": "bytes 5-9/10", "content-length": 5 }).end("56789"),
  "headers that are too long": () => (_, response) =>
    response.writeHead(200, { "x-long": "x".repeat(100_000) }).end("x"),
  "a status that does not exist": () => (_, response) => response.socket!.end("HTTP/1.1 999999 ?\r\n\r\n"),
};

for (const [what, wrong] of Object.entries(wrongBodies)) {
  test(`a read that the service answers with ${what} fails, and its bytes are not returned`, async (t) => {
    const service = await startService(t);
    const bytes = sampleBytes(300_000);
    const blob = await write(service.backend, bytes);
    service.hostile = wrong(answerHonestly(service.objects));
    // The range begins inside of a piece, so that it is requested as a range.
    const range = { offset: 70_000, length: 150_000 };
    await assert.rejects(read(service.backend, blob, range), (error: { reason?: string }) =>
      ["ServiceUnavailable", "Damaged"].includes(error.reason!),
    );
    service.hostile = undefined;
    assertBytes(await read(service.backend, blob), bytes);
  });
}

test("redirects to another host are not followed, and no credentials reach it", async (t) => {
  const seen: (string | undefined)[] = [];
  const elsewhere = await listenTo(t, (request, response) => {
    seen.push(request.headers.authorization);
    response.end("from elsewhere");
  });
  const service = await startService(t);
  const { backend } = service;
  const blob = await write(backend, sampleBytes(300_000));
  for (const status of [301, 302, 303, 307, 308]) {
    service.hostile = (_, response) =>
      response.writeHead(status, { location: `http://127.0.0.1:${elsewhere}/shelf/x` }).end();
    for (const work of [
      () => read(backend, blob),
      () => write(backend, sampleBytes(10)),
      () => backend.has(blob),
      () => backend.remove(blob),
      () => toArray(backend.all(blob.bucket)),
    ]) {
      await assert.rejects(work(), refused(/refuses the request|cannot be reached or used/));
    }
  }
  assert.deepEqual(seen, []);
});

test("a write that is answered with an error document and status 200 is not taken for stored", async (t) => {
  const service = await startService(t);
  const { backend } = service;
  const error = "<Error><Code>AccessDenied</Code><Message>not today</Message></Error>";
  for (const document of [error, `<?xml version="1.0" encoding="UTF-8"?>\n${error}`, ` \n ${error}`]) {
    service.hostile = (_, response) => response.end(document);
    await assert.rejects(write(backend, sampleBytes(300_000)), refused(/AccessDenied: not today/));
    await assert.rejects(backend.remove({ ...newPlace(), size: 10, pieceBlocks: 0 }), refused(/not today/));
  }
});

test("a backup's write that is answered so is not taken for stored either", async (t) => {
  const objects = new Map<string, Buffer>();
  let hostile: Handler | undefined = (_, response) =>
    response.end("<Error><Code>AccessDenied</Code><Message>not today</Message></Error>");
  const port = await listenTo(t, (request, response, body) =>
    (hostile ?? answerHonestly(objects))(request, response, body),
  );
  const endpoint = {
    ...{ hostname: "127.0.0.1", port, tls: false, region: "auto", bucket: "shelf", prefix: "" },
    ...{ accessKeyId: "KEY", secretAccessKey: "SECRETSECRET" },
  };
  const store = openObjectStore({ endpoint, times });
  t.after(() => store.close());
  const bytes = Buffer.from("text");
  for (const work of [
    () => store.put("name", bytes),
    () => store.create("name", bytes),
    () => store.replace("name", bytes, '"etag"'),
  ]) {
    await assert.rejects(work(), /AccessDenied: not today/);
  }
  hostile = undefined;
  await store.put("name", bytes);
  assert.deepEqual(objects.get("name"), bytes);
});
