// Hostile S3 services as sources of an import: listings that never end, keys outside of the prefix,
// endless errors, redirects. The import fails with a reason, and nothing hangs or follows.
import assert from "node:assert/strict";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { openS3Source } from "../../../src/cli/transfer/import/s3-source.ts";
import { readBody, readText } from "../../../src/s3-client/response-body.ts";

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

async function listenHostile(t: TestContext, answer: Answering) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.on("error", () => {});
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, port: (server.address() as AddressInfo).port };
}

/** Lists the source with short timeouts. Returns the keys, or the error. */
async function list(port: number): Promise<string[] | Error> {
  const source = openS3Source({
    endpoint: {
      ...{ hostname: "127.0.0.1", port, tls: false, region: "auto", bucket: "b", prefix: "in/" },
      ...{ accessKeyId: "AKIDSOURCE", secretAccessKey: "secret-of-the-source" },
    },
    times: { connect: 5000, answer: 5000, idle: 5000, retry: 3000 },
  });
  const keys: string[] = [];
  try {
    for await (const { key } of source.objects()) keys.push(key);
    return keys;
  } catch (error) {
    return error as Error;
  } finally {
    source.close();
  }
}

const page = (key: string, rest: string) =>
  `<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>${key}</Key><Size>1</Size></Contents>${rest}</ListBucketResult>`;
const next = (token: string) =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;

const listings: readonly [name: string, document: string, reason: RegExp][] = [
  [
    "whose pages name themselves as the next page",
    page("in/a", next("same")),
    /names itself as the next page/,
  ],
  [
    "that is truncated without a next page",
    page("in/a", "<IsTruncated>true</IsTruncated>"),
    /no valid IsTruncated/,
  ],
  ["without an end", page("in/a", ""), /no valid IsTruncated/],
  ["with a key outside of the prefix", page("other/a", next("x")), /cannot be read/],
  ["with a key that is not encoded", page("in/%zz", next("x")), /cannot be read/],
];

for (const [name, document, reason] of listings) {
  test(`an import reports a listing ${name}`, async (t) => {
    const { port, requests } = await listenHostile(t, (_, response) => response.end(document));
    const failure = await list(port);
    assert.ok(failure instanceof Error);
    assert.match(failure.message, reason);
    assert.ok(requests.length <= 2);
  });
}

test("a redirect of the source is not followed, so that no credentials reach another host", async (t) => {
  const other = await listenHostile(t, (_, response) => response.end());
  const { port } = await listenHostile(t, (_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${other.port}/b?list-type=2` }).end(),
  );
  const failure = await list(port);
  assert.ok(failure instanceof Error);
  assert.doesNotMatch(failure.message, /secret-of-the-source|AKIDSOURCE/);
  assert.equal(other.requests.length, 0);
});

test("an error response without an end is cut off, and memory stays bounded", async (t) => {
  const block = Buffer.alloc(2 ** 20, "<Message>".repeat(8));
  let sent = 0;
  const { port, requests } = await listenHostile(t, (_, response) => {
    response.writeHead(403);
    const write = () => {
      while (!response.destroyed && response.write(block)) sent++;
    };
    response.on("drain", write);
    write();
  });
  const failure = await list(port);
  assert.ok(failure instanceof Error);
  assert.match(failure.message, /longer than 16777216 bytes/);
  assert.ok(sent < 64 * requests.length, `${sent} MiB were sent in ${requests.length} responses`);
});

test("a document whose bytes arrive one by one is given up after its time, not only when it is idle", async (t) => {
  const { port } = await listenHostile(t, (_, response) => {
    const timer = setInterval(() => response.write("x"), 5);
    response.once("close", () => clearInterval(timer));
  });
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: "127.0.0.1", port }, resolve).once("error", reject);
  });
  await assert.rejects(readText(readBody(message, 10_000), 100), /did not arrive in time/);
});
