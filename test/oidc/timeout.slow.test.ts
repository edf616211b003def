// A provider that accepts requests but does not answer, or stops in the middle of an answer.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { fetchJson } from "../../src/oidc/fetch-json.ts";
import { OidcError } from "../../src/oidc/oidc-error.ts";

test("a provider that hangs before or during its answer is given up after ten seconds", async (t) => {
  const server = createServer((request, response) => {
    if (request.url === "/half") response.writeHead(200).write('{"half":');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const started = performance.now();
  const outcomes = await Promise.allSettled(
    ["/none", "/half"].map((path) => fetchJson({ url: `http://127.0.0.1:${port}${path}`, what: "key set" })),
  );
  for (const outcome of outcomes) {
    assert.equal(outcome.status, "rejected");
    assert.ok(outcome.reason instanceof OidcError, String(outcome.reason));
    assert.match(outcome.reason.message, /did not answer in time/);
  }
  assert.ok(performance.now() - started < 60_000);
});
