// An S3 service that lies about an object. `store sync`, `store cp` and `store import` report the lie
// and write nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { quotedMd5, type S3Call } from "./lying-s3.ts";
import { openVictim, secret } from "./victim.ts";

const object = Buffer.from("bytes");
/** An etag of parts: no hash of the bytes, so that only their number is known. */
const parted = `"${"0".repeat(32)}-2"`;

interface Lie {
  readonly name: string;
  /** Etag in the listing. */
  readonly etag?: string;
  get(call: S3Call): void;
  readonly reason: RegExp;
  /** What `store import` says, if it differs. */
  readonly imported?: RegExp;
}

const send = ({ response }: S3Call, status: number, headers: Record<string, string>, body = "") =>
  response.writeHead(status, headers).end(body);
const whole = { "content-length": "5", etag: quotedMd5(object) };

/** Answers with the first bytes, then closes the connection; a request for the rest goes to `resume`. */
function breaking(call: S3Call, resume: () => void): void {
  const { request, response } = call;
  if (request.headers.range !== undefined) resume();
  else response.writeHead(200, { ...whole, etag: parted }).write("by", () => response.destroy());
}

const lies: readonly Lie[] = [
  {
    name: "other bytes",
    get: (call) => send(call, 200, whole, "bites"),
    reason: /differs from its source/,
    imported: /do not match the source's checksum/,
  },
  {
    name: "a part instead of the whole object",
    get: (call) => send(call, 206, { ...whole, "content-range": "bytes 5-9/10" }, "bytes"),
    reason: /status 206 instead of the whole object/,
  },
  {
    name: "no length",
    get: ({ response }) => {
      response.writeHead(200, { etag: quotedMd5(object) });
      response.write("by");
      response.end("tes");
    },
    reason: /without its length/,
    imported: /an unknown number of bytes of an object that it listed with 5/,
  },
  {
    name: "another range after an interruption",
    etag: parted,
    get: (call) =>
      breaking(call, () => {
        send(call, 206, { "content-length": "3", "content-range": "bytes 0-2/5", etag: parted }, "byt");
      }),
    reason: /did not send the range that was requested/,
  },
  {
    name: "the whole object after an interruption",
    etag: parted,
    get: (call) => breaking(call, () => send(call, 200, { ...whole, etag: parted }, "bytes")),
    reason: /did not send the range that was requested/,
  },
  {
    name: "more than the rest after an interruption",
    etag: parted,
    get: (call) =>
      breaking(call, () => {
        send(
          call,
          206,
          { "content-length": "9", "content-range": "bytes 2-10/11", etag: parted },
          "tes+more!",
        );
      }),
    reason: /more bytes than were announced/,
  },
  {
    name: "a redirect to the metadata service",
    get: (call) => send(call, 307, { location: "http://169.254.169.254/latest/" }),
    reason: /HTTP status 307/,
  },
  {
    name: "headers of 100 kB",
    get: (call) => send(call, 200, { ...whole, "x-amz-meta-a": "y".repeat(100_000) }, "bytes"),
    reason: /Header overflow/,
  },
];

const commands: readonly (readonly string[])[] = [
  ["sync", "work:bucket", "./dest"],
  ["cp", "work:bucket", "./dest", "--recursive"],
  ["mv", "work:bucket/key", "./dest/key"],
  ["sync", "work:bucket", "local"],
  ["cp", "work:bucket/key", "local/key"],
];

for (const { name, etag = quotedMd5(object), get, reason, imported = reason } of lies) {
  test(`nothing is written of an object for which the service sends ${name}`, async (t) => {
    const victim = await openVictim(t);
    const { service, fails } = victim;
    service.objects.set("key", object);
    service.etags.set("key", etag);
    service.lie = (call) => {
      if (call.key === undefined || call.request.method !== "GET" || call.query.has("tagging")) return false;
      get(call);
      return true;
    };
    const failures = [];
    for (const args of commands) failures.push(await fails(...args));
    for (const failure of failures) assert.match(failure, reason);
    const url = `http://127.0.0.1:${service.port}/bucket`;
    assert.match(await fails("import", url, "local"), imported);
    assert.doesNotMatch(failures.join("\n"), new RegExp(secret));
    assert.deepEqual(await victim.files(), { "dest/mine": "mine" });
    assert.deepEqual(await victim.keys(), []);
    assert.ok(!service.calls.some((call) => call.startsWith("DELETE")), "a move keeps its source");
  });
}
