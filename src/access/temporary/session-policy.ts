// The policy of a session: it narrows temporary credentials and never adds a right. The session
// token carries it compressed; the token's signature covers it.
import { Buffer } from "node:buffer";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { parseSessionPolicy } from "../policy/parse.ts";
import type { SessionPolicy } from "../policy/policy.ts";

/** As in AWS. */
export const maxPolicyCharacters = 2048;
/** So that a token fits into a header: any policy of 2,048 ASCII characters is smaller, compressed. */
const maxPackedBytes = 1800;
/** In base64url. */
export const maxPackedLength = Math.ceil((maxPackedBytes * 4) / 3);
/** A character of the text has at most three bytes. */
const maxOpenBytes = maxPolicyCharacters * 3;

export interface PackedPolicy {
  /** In base64url. */
  readonly packed: string;
  /** Size of the compressed policy, in percent of what a token can carry; above 100: too large. */
  readonly percent: number;
}

/** Throws PolicyError if the policy is not valid. */
export function packPolicy(text: string): PackedPolicy {
  parseSessionPolicy(text);
  const bytes = deflateRawSync(JSON.stringify(JSON.parse(text)));
  return { packed: bytes.toString("base64url"), percent: Math.ceil((bytes.length / maxPackedBytes) * 100) };
}

/** Undefined if this is not a policy, or not one that this version understands. */
export function openPolicy(packed: string): SessionPolicy | undefined {
  try {
    const bytes = inflateRawSync(Buffer.from(packed, "base64url"), { maxOutputLength: maxOpenBytes });
    return parseSessionPolicy(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
