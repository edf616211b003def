// A parsed policy of a bucket or of a session. What the parser accepts is what the evaluation understands.
import type { Work } from "./work.ts";

export interface Policy {
  readonly statements: readonly Statement[];
  /** Whether a condition asks for the tags of the existing object. */
  readonly usesExistingTags: boolean;
  /** Whether a condition asks for the tags that the request sets. */
  readonly usesRequestTags: boolean;
}

/** The policy of temporary credentials. Its statements are about their caller. */
export interface SessionPolicy extends Policy {
  /** Buckets that an Allow names without a wildcard. */
  readonly namedBuckets: ReadonlySet<string>;
}

export interface Statement {
  readonly sid: string | undefined;
  readonly effect: "Allow" | "Deny";
  readonly principals: readonly Principal[];
  readonly actions: Patterns;
  readonly resources: Patterns;
  readonly conditions: readonly Condition[];
}

/** Patterns with `*` and `?`. */
export interface Patterns {
  readonly patterns: readonly string[];
  /** Whether everything but the patterns is meant, as in NotAction. */
  readonly isInverted: boolean;
  /** Whether a text is meant. */
  readonly matches: (text: string, work: Work) => boolean;
}

export type Principal =
  | { readonly kind: "everyone" }
  | { readonly kind: "account"; readonly account: string }
  /** The account whose owner id this is. */
  | { readonly kind: "owner"; readonly id: string }
  | { readonly kind: "key"; readonly accessKeyId: string; readonly account: string | undefined };

/** One key of one operator: the values of the request are compared with those of the policy. */
export interface Condition {
  readonly operator: Operator;
  /** Whether the condition holds if the request has no such value. */
  readonly ifExists: boolean;
  readonly set: "any" | "all" | undefined;
  /** Name of the condition key; lowercase, except for the key of a tag. */
  readonly key: string;
  readonly values: readonly string[];
  /** Whether one of the request's values equals one of `values`, before negation. */
  readonly matches: (given: string, work: Work) => boolean;
}

export const operators = [
  "StringEquals",
  "StringNotEquals",
  "StringEqualsIgnoreCase",
  "StringNotEqualsIgnoreCase",
  "StringLike",
  "StringNotLike",
  "ArnEquals",
  "ArnNotEquals",
  "ArnLike",
  "ArnNotLike",
  "NumericEquals",
  "NumericNotEquals",
  "NumericLessThan",
  "NumericLessThanEquals",
  "NumericGreaterThan",
  "NumericGreaterThanEquals",
  "DateEquals",
  "DateNotEquals",
  "DateLessThan",
  "DateLessThanEquals",
  "DateGreaterThan",
  "DateGreaterThanEquals",
  "Bool",
  "IpAddress",
  "NotIpAddress",
  "Null",
] as const;

export type Operator = (typeof operators)[number];

export const maxPolicyBytes = 20 * 1024;

/** The policy is not valid. The message says what is wrong where. */
export class PolicyError extends Error {
  override readonly name = "PolicyError";
}
