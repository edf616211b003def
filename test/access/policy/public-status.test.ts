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
  [true, { Condition: { StringEquals: { "aws:userid": "anonymous" } } }],
  [true, { Condition: { StringLike: { "aws:userid": ["STOREK", "anonymous"] } } }],
  [true, { Condition: { StringEqualsIgnoreCase: { "aws:UserId": "ANONYMOUS" } } }],
  [true, { Condition: { "ForAnyValue:StringEquals": { "aws:userid": "anonymous" } } }],
  [true, { Condition: { "ForAllValues:StringEquals": { "aws:username": "STOREK" } } }],
  [true, { Condition: { StringEqualsIfExists: { "aws:username": "STOREK" } } }],
  [true, { Condition: { Null: { "aws:username": "true" } } }],
  [false, { Condition: { StringEquals: { "aws:userid": "STOREK" } } }],
  [false, { Condition: { StringEquals: { "aws:userid": "anonymous", "aws:username": "STOREK" } } }],
  [true, { Condition: { IpAddress: { "aws:SourceIp": slashEights(0, 256) } } }],
  [true, { Condition: { IpAddress: { "aws:SourceIp": slashEights(10, 15) } } }],
  [false, { Condition: { IpAddress: { "aws:SourceIp": slashEights(10, 14) } } }],
  [
    false,
    { Condition: { IpAddress: { "aws:SourceIp": [...slashEights(10, 14), "10.0.0.0/9", "11.1.1.1"] } } },
  ],
  [
    false,
    { Condition: { IpAddress: { "aws:SourceIp": ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"] } } },
  ],
  [true, { Condition: { IpAddress: { "aws:SourceIp": slash32s(5) } } }],
  [false, { Condition: { IpAddress: { "aws:SourceIp": slash32s(4) } } }],
  [false, { Condition: { IpAddress: { "aws:SourceIp": [...slashEights(10, 14), ...slash32s(4)] } } }],
  [
    false,
    {
      Condition: {
        IpAddress: { "aws:SourceIp": "10.0.0.0/8" },
        "ForAnyValue:IpAddress": { "aws:SourceIp": "0.0.0.0/0" },
      },
    },
  ],
];

function slashEights(first: number, end: number): string[] {
  return Array.from({ length: end - first }, (_, i) => `${first + i}.0.0.0/8`);
}

function slash32s(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `2001:db${i}::/32`);
}

test("the networks of several statements count together", () => {
  const ofNetwork = (network: string) => statement({ Condition: { IpAddress: { "aws:SourceIp": network } } });
  const isPublic = (networks: readonly string[]) =>
    isPublicPolicy(parsePolicy(toText(...networks.map(ofNetwork)), "photos"));
  assert.equal(isPublic(slashEights(10, 14)), false);
  assert.equal(isPublic(slashEights(10, 15)), true);
  assert.equal(isPublic(slashEights(0, 128)), true);
  assert.equal(isPublic(Array.from({ length: 100 }, () => "10.0.0.0/8")), false);
});

test("a policy is public if it allows everyone something without limiting the callers", () => {
  for (const [isPublic, fields] of cases) {
    const policy = parsePolicy(toText(statement(fields)), "photos");
    assert.equal(isPublicPolicy(policy), isPublic, JSON.stringify(fields));
  }
});
