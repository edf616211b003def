// A binding that Store does not support throws only when the script uses it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { unsupportedBinding } from "../../../../src/script/host/platform/unsupported-binding.ts";

interface Database {
  prepare(query: string): unknown;
  (): unknown;
  new (): unknown;
}

const wanted = {
  name: "TypeError",
  message:
    "env.DB is a D1 database, which Store does not have. For alternatives see docs/migrating.md in Store's documentation.",
};

test("using an unsupported binding throws an error that names it", (t) => {
  t.mock.method(console, "error", () => {});
  const db = unsupportedBinding("DB", "a D1 database") as Database;
  assert.throws(() => db.prepare("SELECT 1"), wanted);
  assert.throws(() => db(), wanted);
  assert.throws(() => new db(), wanted);
  assert.throws(() => Object.assign(db, { x: 1 }), wanted);
});

test("copying, printing, awaiting and serializing an unsupported binding does not throw", async () => {
  const env = { DB: unsupportedBinding("DB", "a D1 database"), A: 1 };
  const copy = { ...env };
  assert.equal(copy.DB, env.DB);
  assert.equal(inspect(env), "{ DB: [env.DB: a D1 database, not supported], A: 1 }");
  assert.equal(await env.DB, env.DB);
  assert.equal(JSON.stringify(env), '{"DB":"[env.DB: a D1 database, not supported]","A":1}');
  assert.equal(`${env.DB}`, "[env.DB: a D1 database, not supported]");
  assert.deepEqual({ ...env.DB }, {});
  assert.equal(Boolean(env.DB), true);
  assert.equal(env.DB.constructor.name, "Unsupported");
});

test("the first use of an unsupported binding is logged, even if the script catches the error", (t) => {
  const log = t.mock.method(console, "error", () => {});
  const db = unsupportedBinding("DB", "a D1 database") as Database;
  for (const _ of [1, 2]) assert.throws(() => db.prepare("SELECT 1"));
  assert.deepEqual(
    log.mock.calls.map(({ arguments: [line] }) => line),
    [
      "The script has used a binding that is not supported: env.DB is a D1 database, which Store does not have.",
    ],
  );
});
