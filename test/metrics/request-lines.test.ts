// Lines of the request log: their fields, and bounded memory when the writer is slow.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLineQueue } from "../../src/metrics/line-queue.ts";
import { requestLine } from "../../src/metrics/request-line.ts";

test("a line of the request log is one JSON object, whatever characters the key contains", () => {
  const line = requestLine(
    {
      ...{
        frontEnd: "s3",
        id: "AB12",
        method: "PUT",
        operation: "PutObject",
        bucket: "b",
        key: 'new\nline"ü',
      },
      ...{ status: 200, bytesIn: 3, bytesOut: 0, milliseconds: 1.23456, isWhole: true },
      ...{ accessKeyId: "STORE1", remoteAddress: () => "::1" },
    },
    Date.UTC(2026, 0, 2),
  );
  assert.match(line, /^[^\n]*\n$/);
  assert.deepEqual(JSON.parse(line), {
    ...{ time: "2026-01-02T00:00:00.000Z", id: "AB12", face: "s3", method: "PUT", operation: "PutObject" },
    ...{ bucket: "b", key: 'new\nline"ü', status: 200, bytesIn: 3, bytesOut: 0, milliseconds: 1.235 },
    ...{ accessKeyId: "STORE1", remoteAddress: "::1" },
  });
});

test("one batch of request log lines is in flight at a time; lines beyond the limit are dropped and counted", () => {
  const sent: string[] = [];
  const queue = createLineQueue({
    send: (text) => sent.push(text),
    maxCharacters: 10,
    maxDelayMilliseconds: 60_000,
  });
  queue.push("one\n");
  queue.push("two\n");
  queue.flush();
  assert.deepEqual(sent, ["one\ntwo\n"]);
  queue.push("three\n");
  queue.push("four\n");
  queue.push("six\n");
  queue.flush();
  assert.equal(sent.length, 1);
  assert.equal(queue.dropped, 1);
  queue.ack();
  assert.deepEqual(sent.slice(1), ["three\nsix\n"]);
  queue.ack();
  queue.push("seven\n");
  queue.flush();
  assert.deepEqual(sent.slice(2), ["seven\n"]);
});
