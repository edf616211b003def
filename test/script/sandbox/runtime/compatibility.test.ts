import assert from "node:assert/strict";
import { test } from "node:test";
import { translateCompatibility } from "../../../../src/script/sandbox/runtime/compatibility.ts";
import { findRuntime, supportedDate } from "../../../../src/script/sandbox/runtime/find-runtime.ts";

const store = { kind: "store", compatibilityFlags: [] } as const;

test("a date later than the runtime supports is lowered, and a note says so", () => {
  const { date, notes } = translateCompatibility({ ...store, compatibilityDate: "2027-01-01" }, "2026-11-10");
  assert.equal(date, "2026-11-10");
  assert.match(notes.join(), /2027-01-01 is later than the runtime supports.*npm install workerd@latest/);
});

test("flags of Store are not passed to the runtime, or under the runtime's name", () => {
  const compatibilityFlags = ["store_list_honor_include", "store_delimited_prefixes_keep_delimiter"];
  const before = { ...store, kind: "wrangler", compatibilityFlags, compatibilityDate: "2022-01-01" } as const;
  assert.deepEqual(translateCompatibility(before, "2026-11-10").flags, ["r2_list_honor_include"]);
  const after = { ...before, compatibilityDate: "2026-01-01" };
  assert.deepEqual(translateCompatibility(after, "2026-11-10").flags, []);
});

test("a script with a store file can import modules of Node, unless its flags forbid it", () => {
  const old = { ...store, compatibilityDate: "2026-01-01" };
  assert.deepEqual(translateCompatibility(old, "2026-11-10").flags, ["nodejs_compat"]);
  const without = { ...old, compatibilityFlags: ["no_nodejs_compat"] };
  assert.deepEqual(translateCompatibility(without, "2026-11-10").flags, ["no_nodejs_compat"]);
});

test("the supported date is read from the version of the package", () => {
  assert.equal(supportedDate("1.20261110.1"), "2026-11-10");
  assert.equal(supportedDate("2.0.0"), undefined);
});

test("without the package, the message says which command installs it", () => {
  const search = findRuntime(["/nonexistent/project"]);
  assert.equal(search.kind, "missing");
  assert.match(
    search.kind === "missing" ? search.message : "",
    /Run in \/nonexistent\/project: npm install workerd/,
  );
});
