// The size and shape of JSON bodies that the console reads: bounded for each route before parsing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { apiScene } from "./scene.ts";

test("every route refuses a body above its limit, and no limit is above 2 MiB", async (t) => {
  const { routes, ask } = await apiScene(t);
  // Routes whose body are the bytes of an object.
  const raw = ["PUT /api/object", "PUT /api/uploads/part"];
  const refused: string[] = [];
  for (const { method, path, maxJsonBytes = 65_536 } of routes) {
    const name = `${method} ${path}`;
    if (method === "GET" || method === "DELETE" || raw.includes(name)) continue;
    assert.ok(maxJsonBytes <= 2 * 1024 * 1024, name);
    const query = { bucket: "bucket", key: "key", kind: "cors", script: "a", name: "A", id: "a" };
    const { status } = await ask(name, { query, json: { text: "x".repeat(maxJsonBytes) } });
    // Other routes read no body.
    if (status === 413) refused.push(name);
  }
  for (const name of ["POST /api/rules/check", "PUT /api/rules", "POST /api/archive", "POST /api/users"])
    assert.ok(refused.includes(name), `${name} is not in ${refused.join(", ")}`);
  assert.ok(refused.length > 20, refused.join(", "));
});

test("lists deep in each other and too many values are refused before they are parsed", async (t) => {
  const { url, refused, get, signIn } = await apiScene(t);
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  const query = { bucket: "bucket", kind: "cors" };
  const name = "POST /api/rules/check";
  assert.match(await refused(413, name, { query, json: { rules: nested(17) } }), /too deep/);
  await refused(413, name, { query, json: { rules: Array.from({ length: 60_000 }, () => 1) } });
  await refused(400, name, { query, json: { rules: nested(10) } });
  // Brackets and commas in a text do not count.
  const id = `${"[{,".repeat(20_000)}\\"\\\\`;
  await get(name, { query: { ...query, kind: "locks" }, json: { rules: [{ id, prefix: id }] } });
  const viewer = await signIn({ buckets: { bucket: "viewer" } });
  await viewer.refused(403, name, { query, json: { rules: [] } });
  const headers = { "x-store-console": "1", "content-type": "application/json" };
  const body = JSON.stringify({ token: "x".repeat(5000) });
  const { status } = await fetch(`${url}/api/session`, { method: "POST", headers, body });
  assert.equal(status, 413, "a sign-in is read up to 4 KiB");
});
