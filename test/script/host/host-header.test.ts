// Requests without a valid Host header are answered as client errors, before the script is called.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasValidHost } from "../../../src/script/host/host-header.ts";
import { scriptScene } from "../scene.ts";

const asked = (host: string | undefined, target = "/") => ({ target, header: () => host });

test("a Host header is valid when a URL can be built from it, with or without a port", () => {
  for (const host of ["example.com", "a:80", "127.0.0.1:8080", "[::1]:1", "bücher.example", undefined]) {
    assert.equal(hasValidHost(asked(host)), true, host);
  }
  for (const host of [
    "",
    "-0.0.0.1",
    "127.9999.1.1",
    "a b",
    "a:99999",
    "a/b",
    "user@host",
    "a?b",
    "[::1",
    "%",
  ]) {
    assert.equal(hasValidHost(asked(host)), false, host);
    assert.equal(hasValidHost(asked(host)), false, "and again");
  }
  assert.equal(hasValidHost(asked("a", "http://b/c")), true);
  assert.equal(hasValidHost(asked("a", "http://127.9999.1.1/")), false);
});

test("a request without a valid host does not reach the script, and nothing is logged", async (t) => {
  const source = "export default { fetch: (request) => new Response(new URL(request.url).host) };";
  const scene = await scriptScene(t, source);
  const server = await scene.start("dev");
  const before = server.log();
  const refused = await server.ask({ path: "/", headers: { host: "127.9999.1.1" } });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /names no valid host/);
  assert.equal((await server.ask({ path: "/", headers: { host: "example.com" } })).text, "example.com");
  assert.equal(server.log(), before);
});
