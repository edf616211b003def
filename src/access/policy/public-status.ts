// Tells whether a policy is public: whether it allows something to everyone without a condition
// that limits the callers to known ones, as S3 defines it.
import { parseNetwork } from "./addresses.ts";
import type { Condition, Policy, Statement } from "./policy.ts";
import { hasWildcard } from "./wildcard.ts";

export function isPublicPolicy({ statements }: Policy): boolean {
  return statements.some(isPublicStatement);
}

function isPublicStatement({ effect, principals, conditions }: Statement): boolean {
  return (
    effect === "Allow" &&
    principals.some(({ kind }) => kind === "everyone") &&
    !conditions.some(limitsCallers)
  );
}

const callerKeys = ["aws:principalarn", "aws:principalaccount", "aws:userid", "aws:username"];
const textOperators = ["StringEquals", "StringEqualsIgnoreCase", "StringLike", "ArnEquals", "ArnLike"];

function limitsCallers({ operator, ifExists, set, key, values }: Condition): boolean {
  // These hold for a request without the value, which an anonymous request is.
  if (ifExists || set === "all") return false;
  if (key === "aws:sourceip") return operator === "IpAddress" && values.every(isNarrow);
  return (
    callerKeys.includes(key) && textOperators.includes(operator) && !values.some((one) => hasWildcard(one))
  );
}

/** As in S3, a network of more than a /8, or a /32 of IPv6, is as good as everyone. */
function isNarrow(text: string): boolean {
  const network = parseNetwork(text);
  return network !== undefined && network.length >= (network.family === "ipv4" ? 8 : 32);
}
