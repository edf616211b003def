// Checks docs/policies.md: its examples do what their sentences say, and its tables are complete.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { anonymous, type Caller } from "../../src/access/decide.ts";
import { parseConditionKey } from "../../src/access/policy/condition-keys.ts";
import { evaluatePolicy } from "../../src/access/policy/evaluate.ts";
import { parsePolicy } from "../../src/access/policy/parse.ts";
import { operators } from "../../src/access/policy/policy.ts";
import { root } from "../cli/store.ts";
import { anchorsOf, blocksOf, linksOf, tableUnder } from "./page/markdown.ts";

const page = readFileSync(join(root, "docs", "policies.md"), "utf8");
const policies = blocksOf(page)
  .filter(({ language }) => language === "json")
  .map(({ text }) => parsePolicy(text, "photos"));

interface Asked {
  readonly caller?: Caller;
  readonly action?: string;
  readonly resource?: string;
  readonly values?: Readonly<Record<string, string>>;
}

function effect(example: number, asked: Asked): string {
  const { caller = anonymous, action = "s3:GetObject", resource = "photos/a", values = {} } = asked;
  const find = (key: string) => (values[key] === undefined ? undefined : [values[key]!]);
  return evaluatePolicy(policies[example]!, { caller, actions: [action], resource, values: find });
}

test("the policies in docs/policies.md allow and deny what the page says", () => {
  assert.equal(policies.length, 5);
  assert.equal(effect(0, { resource: "photos/open/a" }), "allow");
  assert.equal(effect(0, { resource: "photos/a" }), "neutral");
  const partner: Caller = { accessKeyId: "K", account: "partner", grants: undefined };
  assert.equal(effect(1, { caller: partner, resource: "photos/shared/a" }), "allow");
  const list = { action: "s3:ListBucket", resource: "photos", caller: partner };
  assert.equal(effect(1, { ...list, values: { "s3:prefix": "shared/2026" } }), "allow");
  assert.equal(effect(1, { ...list, values: { "s3:prefix": "" } }), "neutral");
  assert.equal(effect(1, { resource: "photos/shared/a" }), "neutral");
  assert.equal(effect(2, { values: { "aws:securetransport": "false" } }), "deny");
  assert.equal(effect(2, { values: { "aws:securetransport": "true" } }), "neutral");
  const inOffice = { "aws:sourceip": "192.0.2.7", "s3:existingobjecttag/class": "public" };
  assert.equal(effect(3, { values: inOffice }), "allow");
  assert.equal(effect(3, { values: { ...inOffice, "aws:sourceip": "198.51.100.1" } }), "neutral");
  assert.equal(effect(3, { values: { ...inOffice, "s3:existingobjecttag/class": "secret" } }), "neutral");
  assert.equal(effect(4, { action: "s3:DeleteObjectVersion", resource: "photos/records/a" }), "deny");
});

test("docs/policies.md lists every operator, and only condition keys that exist", () => {
  for (const operator of operators) assert.ok(page.includes(`\`${operator}\``), operator);
  const section = page.slice(page.indexOf("### Conditions"), page.indexOf("## Examples"));
  const keys = [...section.matchAll(/`((?:aws|s3):[^`]+)`/g)].map(([, key]) => key!);
  assert.ok(keys.length > 30);
  for (const key of keys) {
    const name = key.replace("grant-…", "grant-read");
    assert.notEqual(parseConditionKey(name), undefined, key);
  }
  assert.ok(tableUnder(page, "Principals").length >= 6);
});

test("every link in docs/policies.md leads to an existing file and heading", () => {
  for (const link of linksOf(page)) {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? join(root, "docs", "policies.md") : join(root, "docs", path);
    assert.ok(existsSync(target), link);
    if (anchor !== undefined) assert.ok(anchorsOf(readFileSync(target, "utf8")).includes(anchor), link);
  }
});
