// Tests the evaluation of policies: principals, actions, resources, conditions and their order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { anonymous, type Caller, type Decision, decide } from "../../../src/access/decide.ts";
import { parseGrant } from "../../../src/access/grants.ts";
import { toOwner } from "../../../src/access/keys/credentials.ts";
import { evaluatePolicy, type PolicyEffect } from "../../../src/access/policy/evaluate.ts";
import { parsePolicy } from "../../../src/access/policy/parse.ts";
import { createWork } from "../../../src/access/policy/work.ts";
import type { Bucket } from "../../../src/model/bucket.ts";
import { statement, toText } from "./policies.ts";

const full: Caller = { accessKeyId: "STOREOTHER", account: "other", grants: undefined };
const limited: Caller = { ...full, accessKeyId: "STORELIMITED", grants: [] };

interface Asked {
  readonly caller?: Caller;
  readonly action?: string;
  readonly resource?: string;
  readonly values?: Readonly<Record<string, readonly string[]>>;
}

function effect(statements: readonly unknown[], asked: Asked = {}): PolicyEffect {
  const { caller = full, action = "s3:GetObject", resource = "photos/a", values = {} } = asked;
  const policy = parsePolicy(toText(...statements), "photos");
  return evaluatePolicy(policy, { caller, actions: [action], resource, values: (key) => values[key] });
}

test("each principal includes the callers that it names", () => {
  const cases: readonly (readonly [principal: unknown, full: PolicyEffect, limited: PolicyEffect])[] = [
    ["*", "allow", "allow"],
    [{ AWS: "other" }, "allow", "neutral"],
    [{ AWS: "arn:aws:iam::other:root" }, "allow", "neutral"],
    [{ CanonicalUser: toOwner("other").id }, "allow", "neutral"],
    [{ AWS: "STORELIMITED" }, "neutral", "allow"],
    [{ AWS: "arn:aws:iam:::user/STORELIMITED" }, "neutral", "allow"],
    [{ AWS: "arn:aws:iam::other:user/STORELIMITED" }, "neutral", "allow"],
    [{ AWS: "arn:aws:iam::default:user/STORELIMITED" }, "neutral", "neutral"],
    [{ AWS: "third" }, "neutral", "neutral"],
  ];
  for (const [Principal, forFull, forLimited] of cases) {
    const text = JSON.stringify(Principal);
    assert.equal(effect([statement({ Principal })]), forFull, text);
    assert.equal(effect([statement({ Principal })], { caller: limited }), forLimited, text);
    const isEveryone = Principal === "*";
    assert.equal(effect([statement({ Principal })], { caller: anonymous }), isEveryone ? "allow" : "neutral");
  }
});

test("a deny of an account reaches every key of the account", () => {
  const deny = statement({ Effect: "Deny", Principal: { AWS: "other" } });
  assert.equal(effect([statement(), deny], { caller: limited }), "deny");
  assert.equal(effect([statement(), deny], { caller: anonymous }), "allow");
});

test("actions and resources match with wildcards, and inverted ones match everything else", () => {
  const cases: readonly (readonly [fields: object, action: string, resource: string, PolicyEffect])[] = [
    [{ Action: "s3:Get*" }, "s3:GetObjectTagging", "photos/a", "allow"],
    [{ Action: "s3:get*" }, "s3:GetObject", "photos/a", "allow"],
    [{ Action: "s3:GetObjec?" }, "s3:GetObject", "photos/a", "allow"],
    [{ Action: "s3:GetObject" }, "s3:GetObjectVersion", "photos/a", "neutral"],
    [{ Resource: "arn:aws:s3:::photos/2026/*" }, "s3:GetObject", "photos/2026/a", "allow"],
    [{ Resource: "arn:aws:s3:::photos/2026/*" }, "s3:GetObject", "photos/2025/a", "neutral"],
    [{ Resource: "arn:aws:s3:::photos/2026/*" }, "s3:GetObject", "photos/2026/", "allow"],
    [{ Resource: "arn:aws:s3:::photos/A" }, "s3:GetObject", "photos/a", "neutral"],
    [
      { Action: undefined, NotAction: "s3:DeleteObject", Resource: "arn:aws:s3:::photos*" },
      "s3:GetObject",
      "photos/a",
      "allow",
    ],
    [
      { Action: undefined, NotAction: "s3:Delete*", Resource: "arn:aws:s3:::photos*" },
      "s3:DeleteObject",
      "photos/a",
      "neutral",
    ],
    [{ Resource: undefined, NotResource: "arn:aws:s3:::photos/a" }, "s3:GetObject", "photos/a", "neutral"],
    [{ Resource: undefined, NotResource: "arn:aws:s3:::photos/a" }, "s3:GetObject", "photos/b", "allow"],
  ];
  for (const [fields, action, resource, expected] of cases)
    assert.equal(effect([statement({ ...fields })], { action, resource }), expected, JSON.stringify(fields));
});

/** Operator, key, values of the policy, values of the request, and whether the condition holds. */
const conditions: readonly (readonly [string, string, unknown, readonly string[] | undefined, boolean])[] = [
  ["StringEquals", "aws:Referer", "a", ["a"], true],
  ["StringEquals", "aws:Referer", ["b", "a"], ["a"], true],
  ["StringEquals", "aws:Referer", "a", ["A"], false],
  ["StringEquals", "aws:Referer", "a*", ["ab"], false],
  ["StringEquals", "aws:Referer", "a", undefined, false],
  ["StringNotEquals", "aws:Referer", "a", ["b"], true],
  ["StringNotEquals", "aws:Referer", ["a", "b"], ["b"], false],
  ["StringNotEquals", "aws:Referer", "a", undefined, true],
  ["StringEqualsIgnoreCase", "aws:Referer", "a", ["A"], true],
  ["StringNotEqualsIgnoreCase", "aws:Referer", "a", ["A"], false],
  ["StringLike", "aws:Referer", "http://*.example.com/*", ["http://www.example.com/x"], true],
  ["StringLike", "aws:Referer", "a?", ["ab"], true],
  ["StringLike", "aws:Referer", "a?", ["a"], false],
  ["StringNotLike", "aws:Referer", "a*", ["b"], true],
  ["StringNotLike", "aws:Referer", "a*", ["ab"], false],
  ["StringEqualsIfExists", "aws:Referer", "a", undefined, true],
  ["StringEqualsIfExists", "aws:Referer", "a", ["b"], false],
  ["ForAllValues:StringEquals", "s3:RequestObjectTagKeys", ["a", "b"], ["a"], true],
  ["ForAllValues:StringEquals", "s3:RequestObjectTagKeys", ["a", "b"], ["a", "c"], false],
  ["ForAllValues:StringEquals", "s3:RequestObjectTagKeys", ["a", "b"], [], true],
  ["ForAnyValue:StringEquals", "s3:RequestObjectTagKeys", ["a", "b"], ["c", "a"], true],
  ["ForAnyValue:StringEquals", "s3:RequestObjectTagKeys", ["a", "b"], [], false],
  ["ForAnyValue:StringNotEquals", "s3:RequestObjectTagKeys", "a", ["a", "b"], true],
  ["Bool", "aws:SecureTransport", "true", ["true"], true],
  ["Bool", "aws:SecureTransport", "TRUE", ["true"], true],
  ["Bool", "aws:SecureTransport", false, ["true"], false],
  ["Null", "aws:Referer", "true", undefined, true],
  ["Null", "aws:Referer", "true", ["a"], false],
  ["Null", "aws:Referer", "false", ["a"], true],
  ["IpAddress", "aws:SourceIp", "10.0.0.0/8", ["10.1.2.3"], true],
  ["IpAddress", "aws:SourceIp", "10.0.0.0/8", ["::ffff:10.1.2.3"], true],
  ["IpAddress", "aws:SourceIp", "10.0.0.0/8", ["11.1.2.3"], false],
  ["IpAddress", "aws:SourceIp", "10.0.0.7", ["10.0.0.8"], false],
  ["IpAddress", "aws:SourceIp", "2001:db8::/32", ["2001:db8:1::1"], true],
  ["IpAddress", "aws:SourceIp", "2001:db8::/32", ["2001:db9::1"], false],
  ["IpAddress", "aws:SourceIp", "0.0.0.0/0", ["2001:db9::1"], false],
  ["IpAddress", "aws:SourceIp", "0.0.0.0/0", ["255.1.2.3"], true],
  ["IpAddress", "aws:SourceIp", "10.0.0.128/25", ["10.0.0.127"], false],
  ["IpAddress", "aws:SourceIp", "10.0.0.128/25", ["10.0.0.129"], true],
  ["IpAddress", "aws:SourceIp", "10.0.0.0/31", ["10.0.0.2"], false],
  ["IpAddress", "aws:SourceIp", "::1", ["0:0:0:0:0:0:0:1"], true],
  ["IpAddress", "aws:SourceIp", "::ffff:10.0.0.0", ["10.0.0.0"], true],
  ["IpAddress", "aws:SourceIp", "2001:db8::/33", ["2001:db8:8000::"], false],
  ["IpAddress", "aws:SourceIp", "2001:db8::/33", ["2001:db8:7fff::1"], true],
  ["IpAddress", "aws:SourceIp", "fe80::/10", ["fe80::1%eth0"], false],
  ["IpAddress", "aws:SourceIp", "10.0.0.0/8", ["not an address"], false],
  ["NotIpAddress", "aws:SourceIp", "10.0.0.0/8", ["10.1.2.3"], false],
  ["NotIpAddress", "aws:SourceIp", "10.0.0.0/8", ["11.1.2.3"], true],
  ["NumericEquals", "s3:max-keys", "10", ["10"], true],
  ["NumericNotEquals", "s3:max-keys", "10", ["10"], false],
  ["NumericLessThan", "s3:max-keys", "10", ["10"], false],
  ["NumericLessThanEquals", "s3:max-keys", "10", ["10"], true],
  ["NumericGreaterThan", "s3:max-keys", 10, ["11"], true],
  ["NumericGreaterThanEquals", "s3:max-keys", "10", ["9"], false],
  ["NumericLessThanEquals", "s3:max-keys", "10", ["0x1"], false],
  ["DateLessThan", "aws:CurrentTime", "2026-01-01T00:00:00Z", ["2025-12-31T23:59:59.999Z"], true],
  ["DateLessThan", "aws:CurrentTime", "2026-01-01T00:00:00Z", ["2026-01-01T00:00:00.000Z"], false],
  ["DateGreaterThanEquals", "aws:CurrentTime", "2026-01-01", ["2026-01-01T00:00:00.000Z"], true],
  ["DateGreaterThan", "aws:EpochTime", "1700000000", ["1700000001"], true],
  ["ArnLike", "aws:PrincipalArn", "arn:aws:iam::other:*", ["arn:aws:iam::other:user/K"], true],
  ["ArnNotLike", "aws:PrincipalArn", "arn:aws:iam::other:*", ["arn:aws:iam::other:user/K"], false],
  ["StringEquals", "s3:ExistingObjectTag/Class", "a", ["a"], true],
];

test("each operator compares as in S3", () => {
  for (const [operator, key, value, given, expected] of conditions) {
    const name = key.startsWith("s3:ExistingObjectTag/") ? "s3:existingobjecttag/Class" : key.toLowerCase();
    const Condition = { [operator]: { [key]: value } };
    // Both kinds of action, so that every key fits the statement.
    const one = statement({ Action: "s3:*", Condition });
    const values = given === undefined ? {} : { [name]: given };
    const about = `${operator} ${key} ${JSON.stringify(value)} ${JSON.stringify(given)}`;
    assert.equal(effect([one], { values }), expected ? "allow" : "neutral", about);
  }
});

test("all operators and all keys of a condition must hold", () => {
  const Condition = {
    StringEquals: { "aws:Referer": "a", "aws:UserAgent": "b" },
    Null: { "s3:x-amz-acl": "true" },
  };
  const values = { "aws:referer": ["a"], "aws:useragent": ["b"] };
  assert.equal(effect([statement({ Condition })], { values }), "allow");
  assert.equal(
    effect([statement({ Condition })], { values: { ...values, "s3:x-amz-acl": ["x"] } }),
    "neutral",
  );
  assert.equal(effect([statement({ Condition })], { values: { "aws:referer": ["a"] } }), "neutral");
});

const bucket: Bucket = {
  name: "photos",
  created: 1,
  storageClass: "Standard",
  account: "default",
  settings: {},
};
const read = {
  operation: "GetObject",
  right: "read",
  target: { kind: "object", key: "a" },
  canAppend: false,
  actions: ["s3:GetObject"],
} as const;

function decideWith(policy: string | undefined, caller: Caller, request = {}): Decision {
  return decide(caller, { ...bucket, settings: { policy } }, { ...read, ...request }, () => undefined);
}

test("an allow by the policy or by grants suffices, and a deny wins over both", () => {
  const own: Caller = { accessKeyId: "K", account: "default", grants: undefined };
  const reader: Caller = { ...own, grants: [parseGrant("photos:read")] };
  const [allow, deny] = [toText(statement()), toText(statement({ Effect: "Deny" }))];
  assert.equal(decideWith(undefined, full), "denied");
  assert.equal(decideWith(allow, full), "allowed");
  assert.equal(decideWith(allow, anonymous), "allowed");
  assert.equal(decideWith(undefined, anonymous), "denied");
  assert.equal(decideWith(undefined, reader), "allowed");
  for (const caller of [own, reader, full, anonymous]) {
    assert.equal(decideWith(deny, caller), "denied");
    assert.equal(decideWith(toText(statement(), statement({ Effect: "Deny" })), caller), "denied");
  }
});

test("temporary credentials stay inside their scope, whatever the policy allows", () => {
  const scope = { grants: [parseGrant("photos/in/*:read")], issued: Date.now() };
  const caller: Caller = { accessKeyId: "K", account: "default", grants: undefined, scope };
  const allow = toText(statement({ Action: "s3:*", Resource: "*" }));
  const at = (key: string, right = "read") => ({ target: { kind: "object", key }, right });
  assert.equal(decideWith(allow, caller, at("in/a")), "allowed");
  assert.equal(decideWith(allow, caller, at("out/a")), "denied");
  assert.equal(decideWith(allow, caller, at("in/a", "write")), "denied");
});

test("a stored policy that cannot be understood denies everything but its replacement", () => {
  const own: Caller = { accessKeyId: "K", account: "default", grants: undefined };
  const change = { operation: "PutBucketPolicy", right: "admin", target: { kind: "bucket" } };
  for (const policy of ["", "{", toText(statement({ Condition: { Later: {} } }))]) {
    assert.equal(decideWith(policy, own), "denied");
    assert.equal(decideWith(policy, anonymous), "denied");
    assert.equal(decideWith(policy, own, change), "allowed");
    assert.equal(decideWith(policy, { ...own, grants: [] }, change), "denied");
  }
});

/** A policy that allows everyone to read, with a condition that costs more than a request may. */
function costly(operator: string, ...values: string[]): Record<string, unknown> {
  return statement({ Condition: { [operator]: { "aws:UserAgent": values } } });
}

test("a request that costs more than its budget is denied, whatever the policy says of it", () => {
  const repetitive = ["a".repeat(8000)];
  const asked = (agent: readonly string[]) => ({ values: { "aws:useragent": agent } });
  const needle = `*${"a".repeat(1500)}b*`;
  for (const operator of ["StringLike", "StringNotLike"]) {
    assert.equal(effect([costly(operator, needle)], asked(repetitive)), "deny");
    const deny = { ...costly(operator, needle), Effect: "Deny" };
    assert.equal(effect([statement(), deny], asked(repetitive)), "deny");
    const many = Array.from({ length: 800 }, (_, i) => `*${i}b*`);
    assert.equal(effect([costly(operator, ...many)], asked(repetitive)), "deny");
    assert.equal(
      effect([costly(operator, ...many)], asked(["curl/8.5"])),
      { StringLike: "neutral", StringNotLike: "allow" }[operator],
    );
  }
});

test("a value or a key that is too long to be compared is denied, and one at the limit is compared", () => {
  for (const operator of ["StringEquals", "StringNotEquals", "StringLike", "StringEqualsIfExists", "Null"]) {
    const value = operator === "Null" ? "false" : "a";
    const one = costly(operator, value);
    assert.equal(effect([one], { values: { "aws:useragent": ["a".repeat(8193)] } }), "deny", operator);
    const expected = operator === "StringNotEquals" || operator === "Null" ? "allow" : "neutral";
    assert.equal(effect([one], { values: { "aws:useragent": ["a".repeat(8192)] } }), expected, operator);
  }
  assert.equal(effect([statement()], { resource: `photos/${"a".repeat(1024)}` }), "allow");
  assert.equal(effect([statement()], { resource: `photos/${"a".repeat(9000)}` }), "deny");
});

test("decisions that share a budget are denied after it is used up", () => {
  const resources = Array.from({ length: 600 }, (_, i) => `arn:aws:s3:::photos/*${i}`);
  const policy = parsePolicy(toText(statement({ Resource: resources }), statement()), "photos");
  const work = createWork();
  const request = { caller: full, actions: ["s3:GetObject"], values: () => undefined, work };
  const ask = () => evaluatePolicy(policy, { ...request, resource: `photos/${"a".repeat(1000)}` });
  const effects = Array.from({ length: 3000 }, ask);
  const allowed = effects.indexOf("deny");
  assert.ok(allowed > 1000, `${allowed} decisions were made`);
  assert.ok(effects.slice(allowed).every((one) => one === "deny"));
  assert.ok(work.spent() < 9_000_000);
});
