// Tests which policies count as public, as S3 defines it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePolicy } from "../../../src/access/policy/parse.ts";
import { isPublicPolicy } from "../../../src/access/policy/public-status.ts";
import { statement, toText } from "./policies.ts";

const cases: readonly (readonly [isPublic: boolean, fields: Record<string, unknown>])[] = [
  [true, {}],
  [true, { Principal: { AWS: ["default", "*"] } }],
  [false, { Principal: { AWS: "default" } }],
  [false, { Effect: "Deny" }],
  [true, { Condition: { StringLike: { "aws:Referer": "https://example.com/*" } } }],
  [true, { Condition: { Bool: { "aws:SecureTransport": "true" } } }],
  [false, { Condition: { IpAddress: { "aws:SourceIp": "10.0.0.0/8" } } }],
  [true, { Condition: { IpAddress: { "aws:SourceIp": "10.0.0.0/7" } } }],
  [true, { Condition: { IpAddress: { "aws:SourceIp": ["10.0.0.0/8", "0.0.0.0/0"] } } }],
  [false, { Condition: { IpAddress: { "aws:SourceIp": "2001:db8::/32" } } }],
  [true, { Condition: { IpAddress: { "aws:SourceIp": "2001::/16" } } }],
  [true, { Condition: { NotIpAddress: { "aws:SourceIp": "10.0.0.0/8" } } }],
  [true, { Condition: { IpAddressIfExists: { "aws:SourceIp": "10.0.0.0/8" } } }],
  [false, { Condition: { StringEquals: { "aws:PrincipalAccount": "default" } } }],
  [false, { Condition: { ArnEquals: { "aws:PrincipalArn": "arn:aws:iam::default:user/K" } } }],
  [true, { Condition: { ArnLike: { "aws:PrincipalArn": "arn:aws:iam::*" } } }],
  [true, { Condition: { StringNotEquals: { "aws:PrincipalAccount": "default" } } }],
];

test("a policy is public if it allows everyone something without limiting the callers", () => {
  for (const [isPublic, fields] of cases) {
    const policy = parsePolicy(toText(statement(fields)), "photos");
    assert.equal(isPublicPolicy(policy), isPublic, JSON.stringify(fields));
  }
});
