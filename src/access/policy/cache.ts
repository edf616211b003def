// Keeps the parsed policies of buckets, so that a request does not parse the policy again.
import { parsePolicy } from "./parse.ts";
import type { Policy } from "./policy.ts";

interface Entry {
  readonly text: string;
  readonly policy: Policy | "invalid";
}

/** Length of all texts together. A parsed policy takes many times the memory of its text. */
const maxCharacters = 1024 * 1024;
/** Policies by bucket. */
const entries = new Map<string, Entry>();
let characters = 0;

/** Returns the parsed policy of a bucket. "invalid": it cannot be understood, so it allows nothing. */
export function cachedPolicy(text: string, bucket: string): Policy | "invalid" {
  const cached = entries.get(bucket);
  if (cached?.text === text) return cached.policy;
  const policy = parseOrInvalid(text, bucket);
  characters += text.length - (cached?.text.length ?? 0);
  entries.delete(bucket);
  entries.set(bucket, { text, policy });
  for (const [oldest, entry] of entries) {
    if (characters <= maxCharacters) break;
    entries.delete(oldest);
    characters -= entry.text.length;
  }
  return policy;
}

function parseOrInvalid(text: string, bucket: string): Policy | "invalid" {
  try {
    return parsePolicy(text, bucket);
  } catch {
    return "invalid";
  }
}
