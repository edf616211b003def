// Requests to a bucket's socket in metrics and in the request log.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createExchangeCounter } from "../../../src/metrics/exchange.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { prometheusText } from "../../../src/metrics/prometheus.ts";
import { requestLine } from "../../../src/metrics/request-line.ts";
import { readPrometheus } from "../../metrics/prometheus-text.ts";
import { headerFrame, openScene } from "./scene.ts";

test("requests to a bucket's socket are counted by operation and status, with bytes and errors", async (t) => {
  const { send, sendRaw, exchanges } = await openScene(t);
  await send({ method: "put", object: "key" }, "hello");
  // Longer than what is read at once, and longer than what is stored beside a record.
  await send({ method: "put", object: "long" }, "x".repeat(200_000));
  assert.equal((await send({ method: "get", object: "long" })).text.length, 200_000);
  const { headers } = await send({ method: "head", object: "missing" });
  await send(
    { method: "put", object: "key", onlyIf: { etagMatches: [{ type: "strong", value: "a" }] } },
    "b",
  );
  await send({ method: "unheard" });
  await sendRaw("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  const metrics = createMetrics();
  exchanges.forEach(createExchangeCounter(metrics));
  const samples = readPrometheus(prometheusText(metrics.snapshot()));
  for (const [labels, expected] of [
    ['operation="put",status="2xx"', 2],
    ['operation="put",status="4xx"', 1],
    ['operation="get",status="2xx"', 1],
    ['operation="head",status="4xx"', 1],
    ['operation="Unknown",status="4xx"', 2],
  ] as const) {
    assert.equal(samples.get(`store_requests_total{face="socket",${labels}}`), expected, labels);
  }
  for (const [code, expected] of Object.entries({
    NoSuchKey: 1,
    PreconditionFailed: 1,
    InvalidArgument: 2,
  })) {
    assert.equal(samples.get(`store_errors_total{face="socket",code="${code}"}`), expected, code);
  }
  const received = samples.get('store_received_bytes_total{face="socket",operation="put"}') ?? 0;
  const sent = samples.get('store_sent_bytes_total{face="socket",operation="get"}') ?? 0;
  assert.ok(received > 200_005 && received < 201_000, `${received} bytes were received`);
  assert.ok(sent > 200_000 && sent < 201_000, `${sent} bytes were sent`);
  const line = JSON.parse(requestLine(exchanges[3]!, 0));
  assert.deepEqual([line.face, line.bucket, line.key], ["socket", "bucket", "missing"]);
  assert.deepEqual([line.operation, line.id], ["head", headers["x-request-id"]]);
});

test("a name of an operation that does not exist is not a label of a metric", async (t) => {
  const { sendRaw, exchanges } = await openScene(t);
  const frame = headerFrame({ method: "x".repeat(1000) });
  await sendRaw(`GET / HTTP/1.1\r\nhost: a\r\ncf-r2-request: ${frame}\r\nconnection: close\r\n\r\n`);
  assert.deepEqual(
    exchanges.map(({ operation, key }) => [operation, key]),
    [["Unknown", undefined]],
  );
});
