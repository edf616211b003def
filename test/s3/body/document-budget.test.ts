// The memory budget for request documents and form fields, which are read into memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createDocumentBudget } from "../../../src/s3/body/document-budget.ts";
import { errors, S3Error } from "../../../src/s3/errors.ts";
import { directScene } from "../direct.ts";

const KiB = 1024;
const deleteKey = (key: string) => Buffer.from(`<Delete><Object><Key>${key}</Key></Object></Delete>`);

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Returns a stream that sends its last bytes only after `resume` is called. */
function pausedStream(bytes: Uint8Array) {
  const [started, resumed] = [deferred(), deferred()];
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(0, -10);
    started.resolve();
    await resumed.promise;
    yield bytes.subarray(-10);
  }
  return { stream, started: started.promise, resume: resumed.resolve };
}

test("request documents over the memory budget get SlowDown with Retry-After until memory is released", async (t) => {
  const { ask, engine } = await directScene(t, { documentBytes: 100 * KiB });
  await engine.createBucket("photos");
  const body = deleteKey("a");
  const remove = (more: object) =>
    ask(
      { method: "POST", path: "/photos", query: [["delete", ""]], ...more },
      { payload: "UNSIGNED-PAYLOAD" },
    );
  const large = Buffer.from(`<Delete><Object><Key>a</Key></Object>${" ".repeat(90 * KiB)}</Delete>`);
  const waiting = pausedStream(large);
  const headers = { "content-length": String(large.length) };
  const first = remove({ stream: waiting.stream, headers });
  await waiting.started;
  const refused = await remove({ body: Buffer.concat([Buffer.alloc(50 * KiB, " "), body]) });
  assert.deepEqual([refused.status, refused.code, refused.headers["retry-after"]], [503, "SlowDown", "1"]);
  assert.equal((await remove({ body })).status, 200);
  waiting.resume();
  assert.equal((await first).status, 200);
  assert.equal((await remove({ body: Buffer.concat([Buffer.alloc(50 * KiB, " "), body]) })).status, 200);
});

test("POST forms can use at most a quarter of the document budget", async (t) => {
  const { send, ask, engine } = await directScene(t, { documentBytes: 40 * KiB });
  await engine.createBucket("photos");
  const headers = { host: "s3.test", "content-type": "multipart/form-data; boundary=x" };
  const form = (size: number) =>
    Buffer.from(`--x\r\nContent-Disposition: form-data; name="key"\r\n\r\n${"k".repeat(size)}`);
  const refused = await send({ method: "POST", path: "/photos", headers, body: form(11 * KiB) });
  assert.deepEqual([refused.status, refused.code, refused.headers["retry-after"]], [503, "SlowDown", "1"]);
  const cut = await send({ method: "POST", path: "/photos", headers, body: form(9 * KiB) });
  assert.equal(cut.code, "MalformedPOSTRequest");
  const body = Buffer.concat([Buffer.alloc(30 * KiB, " "), deleteKey("a")]);
  const answer = await ask({ method: "POST", path: "/photos", query: [["delete", ""]], body });
  assert.equal(answer.status, 200);
});

test("released bytes of the document budget can be used again", () => {
  const budget = createDocumentBudget(100);
  const [one, two] = [budget.open("document"), budget.open("document")];
  one.resize(60);
  assert.throws(() => two.resize(41), { code: "SlowDown" });
  two.resize(40);
  one.resize(20);
  two.resize(80);
  one.release();
  one.release();
  two.release();
  assert.equal(budget.usedBytes(), 0);
});

test("a request document whose Content-Length exceeds the limit is refused before it is read", async (t) => {
  const { ask, engine } = await directScene(t);
  await engine.createBucket("photos");
  const stream = (): AsyncIterable<Uint8Array> => assert.fail("the body was read");
  const answer = await ask(
    {
      ...{ method: "POST", path: "/photos", query: [["delete", ""]], stream },
      headers: { "content-length": String(5 * KiB * KiB) },
    },
    { payload: "UNSIGNED-PAYLOAD" },
  );
  assert.equal(answer.code, "MaxMessageLengthExceeded");
});

test("every S3 error with status 503 has Retry-After", () => {
  for (const code of Object.keys(errors) as (keyof typeof errors)[]) {
    assert.equal(new S3Error(code).retryAfterSeconds, errors[code][0] === 503 ? 1 : undefined, code);
  }
});
