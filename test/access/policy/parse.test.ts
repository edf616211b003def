// Tests what the parser of bucket policies accepts, and that errors say what is wrong where.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePolicy } from "../../../src/access/policy/parse.ts";
import { PolicyError } from "../../../src/access/policy/policy.ts";
import { statement, toText } from "./policies.ts";

const accepted: Readonly<Record<string, Record<string, unknown>>> = {
  "everyone as a text": { Principal: "*" },
  "everyone as an object": { Principal: { AWS: "*" } },
  "an account": { Principal: { AWS: "default" } },
  "an account of digits": { Principal: { AWS: "123456789012" } },
  "the root of an account": { Principal: { AWS: "arn:aws:iam::default:root" } },
  "an access key": { Principal: { AWS: ["STOREABCDEFGHIJKLMNO", "arn:aws:iam:::user/mykey"] } },
  "an owner id": { Principal: { CanonicalUser: "0".repeat(64) } },
  "a wildcard in an action": { Action: ["s3:Get*", "s3:?utObject"] },
  "an action in another case": { Action: "S3:getobject" },
  "every action": { Action: "*", Resource: "*" },
  "an inverted action": { Action: undefined, NotAction: "s3:DeleteObject" },
  "an inverted resource": { Resource: undefined, NotResource: "arn:aws:s3:::photos/closed/*" },
  "a question mark in a resource": { Resource: "arn:aws:s3:::photos/?/*" },
  "a wildcard over the bucket": { Resource: "arn:aws:s3:::*" },
  "an empty condition": { Condition: {} },
  "an address": { Condition: { IpAddress: { "aws:SourceIp": ["10.0.0.1", "2001:db8::/32"] } } },
  "a boolean without quotes": { Condition: { Bool: { "aws:SecureTransport": true } } },
  "a number without quotes": {
    Action: "s3:ListBucket",
    Resource: "arn:aws:s3:::photos",
    Condition: { NumericLessThan: { "s3:max-keys": 10 } },
  },
  "a date": { Condition: { DateGreaterThan: { "aws:CurrentTime": "2026-01-01T00:00:00Z" } } },
  "a null test": { Condition: { Null: { "s3:x-amz-acl": "true" } } },
  "a set operator": { Condition: { "ForAllValues:StringLike": { "s3:RequestObjectTagKeys": ["a", "b*"] } } },
  "an operator if the value exists": { Condition: { StringNotEqualsIfExists: { "aws:Referer": "x" } } },
  "a condition key in another case": { Condition: { StringEquals: { "AWS:referer": "x" } } },
};

for (const [name, fields] of Object.entries(accepted)) {
  test(`a policy with ${name} is accepted`, () => {
    assert.equal(parsePolicy(toText(statement(fields)), "photos").statements.length, 1);
  });
}

const refused: readonly (readonly [problem: string, text: string, message: RegExp])[] = [
  ["text that is not JSON", "{", /not valid JSON/],
  ["a list instead of an object", "[]", /must be an object/],
  ["no statement", "{}", /has no Statement/],
  [
    "an unknown field",
    toText(statement({ Effekt: "Allow" })),
    /Statement\[0\] has the unknown field "Effekt"/,
  ],
  ["an unknown version", `{"Version":"2030-01-01","Statement":[]}`, /Version must be/],
  ["an unknown effect", toText(statement({ Effect: "allow" })), /Statement\[0\]\.Effect/],
  ["no principal", toText(statement({ Principal: undefined })), /Statement\[0\] has no Principal/],
  [
    "an inverted principal",
    toText(statement({ Principal: undefined, NotPrincipal: "*" })),
    /NotPrincipal is not supported/,
  ],
  ["a service as principal", toText(statement({ Principal: { Service: "x" } })), /unknown field "Service"/],
  [
    "a principal with a wildcard",
    toText(statement({ Principal: { AWS: "arn:aws:iam::*:root" } })),
    /invalid principal/,
  ],
  ["both kinds of actions", toText(statement({ NotAction: "s3:*" })), /either Action or NotAction/],
  ["an unknown action", toText(statement({ Action: "s3:Fly" })), /unknown action "s3:Fly"/],
  ["an action of another service", toText(statement({ Action: "sqs:*" })), /unknown action "sqs:\*"/],
  [
    "a resource of another bucket",
    toText(statement({ Resource: "arn:aws:s3:::other/*" })),
    /invalid resource "arn:aws:s3:::other\/\*"/,
  ],
  [
    "an action that does not fit the resource",
    toText(statement({ Action: "s3:ListBucket", Resource: "arn:aws:s3:::photos/*" })),
    /does not apply to any of the resources/,
  ],
  [
    "an unknown operator",
    toText(statement({ Condition: { StringMatches: { "aws:Referer": "x" } } })),
    /Statement\[0\]\.Condition has the unknown operator "StringMatches"/,
  ],
  [
    "an unknown condition key",
    toText(statement({ Condition: { StringEquals: { "aws:SourceVpc": "x" } } })),
    /Statement\[0\]\.Condition\.StringEquals\.aws:SourceVpc: this condition key is not supported/,
  ],
  [
    "an operator that does not fit its key",
    toText(statement({ Condition: { StringEquals: { "aws:SourceIp": "10.0.0.1" } } })),
    /StringEquals does not fit/,
  ],
  [
    "a network that is none",
    toText(statement({ Condition: { IpAddress: { "aws:SourceIp": "10.0.0.0/33" } } })),
    /invalid value "10\.0\.0\.0\/33"/,
  ],
  ["a variable", toText(statement({ Resource: `arn:aws:s3:::photos/$${"{aws:username}"}/*` })), /variable/],
  ["a repeated name", '{"Statement":[],"Statement":[]}', /"Statement" twice/],
  ["a repeated Sid", toText(statement({ Sid: "a" }), statement({ Sid: "a" })), /Sid "a" is used twice/],
  ["more than 20 KiB", `${toText(statement({}))}${" ".repeat(20 * 1024)}`, /larger than 20480 bytes/],
];

for (const [problem, text, message] of refused) {
  test(`a policy with ${problem} is refused, and the error says so`, () => {
    assert.throws(
      () => parsePolicy(text, "photos"),
      (error) => error instanceof PolicyError && message.test(error.message),
    );
  });
}
