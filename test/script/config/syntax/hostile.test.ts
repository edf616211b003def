// Hostile configurations are reported briefly, with a position, and in a short time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "../../../../src/model/names/did-you-mean.ts";
import { maxFaults } from "../../../../src/script/config/syntax/error.ts";
import { project } from "../../../support/projects.ts";

const head = 'name = "photos"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n';

test("a configuration in TOML, JSON or JSONC with too deep nesting is refused with the position", async (t) => {
  const { refused } = await project(t);
  const rows: [string, string, string][] = [
    ["store.json", "[".repeat(100_000), "1:65"],
    ["store.json", '{"a":'.repeat(100_000), "1:321"],
    ["store.jsonc", `/* [[ */ ${"[".repeat(65)}${"]".repeat(65)}`, "1:74"],
    ["store.toml", `${head}[vars]\na = ${"[".repeat(900)}${"]".repeat(900)}`, "5:68"],
    ["store.toml", `${head}[vars]\n${"a.".repeat(20_000)}a = 1`, "5:129"],
  ];
  for (const [file, text, at] of rows) {
    const { faults } = await refused(file, text);
    assert.equal(faults.length, 1);
    assert.match(faults[0]!.message, /nested more than 64 levels deep/);
    assert.equal(`${faults[0]!.line}:${faults[0]!.column}`, at);
  }
});

test("a configuration with nesting up to the limit is accepted", async (t) => {
  const { read } = await project(t);
  const list = `${"[".repeat(60)}${"]".repeat(60)}`;
  const { vars } = await read("store.toml", `${head}[vars]\nA = ${list}\n`);
  assert.equal(JSON.stringify(vars), `{"A":${list}}`);
});

test("a configuration with very many errors is refused with the first errors and a note that there are more", async (t) => {
  const { refused } = await project(t);
  const keys = Array.from({ length: 5000 }, (_, i) => `k${i} = 1`).join("\n");
  const { message, faults } = await refused("store.toml", keys);
  assert.equal(faults.length, maxFaults);
  assert.match(message, /There are more errors/);
  const twice = await refused("store.json", `{${'"a":1,'.repeat(5000)}"b":1}`);
  assert.equal(twice.faults.length, maxFaults);
});

test("a configuration with very long words or runs of spaces is parsed quickly", async (t) => {
  const { refused } = await project(t);
  const spaces = " ".repeat(200_000);
  for (const text of [
    `a = [x${spaces}b`,
    `a ${spaces}b`,
    `a = x${spaces}# b`,
    `a = ${spaces}`,
    `${"k".repeat(200_000)} = 1`,
  ]) {
    const { faults } = await refused("store.toml", text);
    assert.ok(faults.length >= 1 && faults[0]!.line === 1);
  }
  assert.equal(nearest("k".repeat(1_000_000), ["name", "main"]), undefined);
});
