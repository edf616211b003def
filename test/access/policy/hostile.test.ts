// Changes every part of a policy in every way: each result is refused with a PolicyError, or it
// allows a stranger nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { anonymous } from "../../../src/access/decide.ts";
import { evaluatePolicy } from "../../../src/access/policy/evaluate.ts";
import { parsePolicy } from "../../../src/access/policy/parse.ts";
import { PolicyError } from "../../../src/access/policy/policy.ts";
import { statement, toText } from "./policies.ts";

/** Allows nothing to a stranger: the condition asks for an address that no request has. */
const closed = statement({
  Sid: "closed",
  Principal: { AWS: ["default", "arn:aws:iam:::user/STOREK"] },
  Action: ["s3:GetObject", "s3:ListBucket"],
  Resource: ["arn:aws:s3:::photos", "arn:aws:s3:::photos/*"],
  Condition: {
    IpAddress: { "aws:SourceIp": ["192.0.2.0/24"] },
    StringEquals: { "s3:ExistingObjectTag/a": "b", "aws:Referer": ["c"] },
    NumericLessThan: { "s3:max-keys": "10" },
    DateLessThan: { "aws:CurrentTime": "2000-01-01T00:00:00Z" },
    Bool: { "aws:SecureTransport": "true" },
    Null: { "s3:x-amz-acl": "false" },
  },
});
const policy = { Version: "2012-10-17", Id: "id", Statement: [closed] };

const values: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 1e308, "", " ", "*", "?", "**", "true", "null", "undefined"],
  ...[
    "arn:aws:s3:::",
    "arn:aws:s3:::*",
    "arn:aws:s3:::other/*",
    "arn:aws:iam::*:root",
    "arn:aws:iam:::user/*",
  ],
  ...[
    "s3:",
    "s3:**",
    "__proto__",
    "constructor",
    "\u0000",
    "\ud800",
    "$" + "{aws:username}",
    "x".repeat(5000),
  ],
  ...[
    [],
    [[]],
    [null],
    [1],
    ["*", null],
    {},
    { AWS: [] },
    { "*": "*" },
    { AWS: { AWS: "*" } },
    { toString: "x" },
  ],
];

/** Yields copies of the value in which one part is replaced, removed or renamed. */
function* mutations(value: unknown): Generator<unknown> {
  yield* values;
  if (Array.isArray(value)) {
    for (const [i, one] of value.entries()) {
      for (const changed of mutations(one)) yield value.with(i, changed);
      yield [...value.slice(0, i), ...value.slice(i + 1)];
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      for (const changed of mutations(one)) yield { ...value, [name]: changed };
      const { [name]: _, ...others } = value as Record<string, unknown>;
      yield others;
      yield { ...others, [name.toUpperCase()]: one };
      yield { ...others, [`${name} `]: one };
    }
    yield { ...value, Extra: "x" };
  }
}

/** What the text of a policy allows a stranger. Undefined: the policy is refused. */
function outcome(text: string): string | undefined {
  try {
    const parsed = parsePolicy(text, "photos");
    const request = { actions: ["s3:GetObject"], resource: "photos/secret", values: () => undefined };
    return evaluatePolicy(parsed, { ...request, caller: anonymous });
  } catch (error) {
    assert.ok(error instanceof PolicyError, `${text}: ${String(error)}`);
    return undefined;
  }
}

/** Statements about everyone without a condition are what they say, not a mistake of the parser. */
const isOpen = (changed: string) => /"Effect":"Allow".*"\*"/s.test(changed) && !/IpAddress/.test(changed);

test("every change of a closed policy is refused or stays closed", () => {
  let [refusals, total] = [0, 0];
  for (const changed of mutations(policy)) {
    const text = JSON.stringify(changed);
    total++;
    const result = outcome(text);
    if (result === undefined) refusals++;
    else if (!isOpen(text)) assert.notEqual(result, "allow", text);
  }
  assert.ok(refusals >= 300, `${refusals} of ${total} were refused`);
});

test("policies cut off or damaged at any character are refused or stay closed", () => {
  const text = JSON.stringify(policy);
  for (let i = 0; i < text.length; i++) {
    assert.equal(outcome(text.slice(0, i)), undefined);
    for (const character of ['"', "{", "\\", "*", "\u0000"])
      assert.notEqual(
        outcome(text.slice(0, i) + character + text.slice(i + 1)),
        "allow",
        `${character} at ${i}`,
      );
  }
});

test("deep, long and repeated structures are refused quickly", () => {
  const start = performance.now();
  for (const text of [
    "[".repeat(20_000),
    `${"[".repeat(9000)}${"]".repeat(9000)}`,
    `{"Statement":${"[".repeat(9000)}${"]".repeat(9000)}}`,
    `${'{"Statement":'.repeat(1400)}{}${"}".repeat(1400)}`,
    `{${Array.from({ length: 1500 }, (_, i) => `"a${i}":1`).join(",")}}`,
    `{${'"Statement":[],'.repeat(1000)}"Statement":[]}`,
    toText(...Array.from({ length: 201 }, () => ({}))),
    toText(statement({ Action: Array.from({ length: 1001 }, () => "s3:*") })),
    toText(statement({ Effect: "Allow" })).replace('"Effect":"Allow"', '"Effect":"Deny","Effect":"Allow"'),
    toText(statement({})).replace('"Effect"', '"Effect" \n\t :"Deny","\\u0045ffect"'),
  ])
    assert.equal(outcome(text), undefined, text.slice(0, 60));
  assert.ok(performance.now() - start < 2000);
});
