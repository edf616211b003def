// Keeps parsed policies by their text, so that a request does not parse the policy again.
import { parsePolicy } from "./parse.ts";
import type { Policy } from "./policy.ts";

interface Entry {
  readonly bucket: string;
  readonly policy: Policy | "invalid";
}

const maxPolicies = 200;
const entries = new Map<string, Entry>();

/** Returns the parsed policy of a bucket. "invalid": it cannot be understood, so it allows nothing. */
export function cachedPolicy(text: string, bucket: string): Policy | "invalid" {
  const cached = entries.get(text);
  // A policy is checked against its bucket, so the same text may be valid for one bucket only.
  if (cached?.bucket === bucket) return cached.policy;
  const policy = parseOrInvalid(text, bucket);
  if (entries.size >= maxPolicies) entries.clear();
  entries.set(text, { bucket, policy });
  return policy;
}

function parseOrInvalid(text: string, bucket: string): Policy | "invalid" {
  try {
    return parsePolicy(text, bucket);
  } catch {
    return "invalid";
  }
}
