// Reports whether a policy is public: whether it allows something to everyone without a condition
// that limits the callers to known ones, as S3 defines it.
import { type Family, mergeNetworks, type Network, parseNetwork } from "./addresses.ts";
import type { Condition, Policy, Statement } from "./policy.ts";
import { hasWildcard } from "./wildcard.ts";
import { freeWork } from "./work.ts";

/** Known results: under a public access block, each request of another account needs it. */
const known = new WeakMap<Policy, boolean>();

export function isPublicPolicy(policy: Policy): boolean {
  const found = known.get(policy) ?? findPublic(policy);
  known.set(policy, found);
  return found;
}

/** The networks of all statements count together: many small ones can be the whole Internet. */
function findPublic({ statements }: Policy): boolean {
  const networks: Network[] = [];
  for (const statement of statements) {
    if (!isForEveryone(statement) || statement.conditions.some(namesCallers)) continue;
    const narrow = statement.conditions
      .map(limitingNetworks)
      .find((one) => one !== undefined && isNarrow(one));
    if (narrow === undefined) return true;
    networks.push(...narrow);
  }
  return !isNarrow(networks);
}

function isForEveryone({ effect, principals }: Statement): boolean {
  return effect === "Allow" && principals.some(({ kind }) => kind === "everyone");
}

/** The value of aws:userid for a caller without an access key. */
export const anonymousUserId = "anonymous";

const callerKeys = ["aws:principalarn", "aws:principalaccount", "aws:userid", "aws:username"];
const textOperators = ["StringEquals", "StringEqualsIgnoreCase", "StringLike", "ArnEquals", "ArnLike"];

function namesCallers(condition: Condition): boolean {
  const { operator, key, values, matches } = condition;
  return (
    !holdsWithoutValue(condition) &&
    callerKeys.includes(key) &&
    textOperators.includes(operator) &&
    !values.some(hasWildcard) &&
    !(key === "aws:userid" && matches(anonymousUserId, freeWork))
  );
}

function limitingNetworks(condition: Condition): readonly Network[] | undefined {
  const { operator, key, values } = condition;
  if (key !== "aws:sourceip" || operator !== "IpAddress" || holdsWithoutValue(condition)) return undefined;
  return values.flatMap((value) => parseNetwork(value) ?? []);
}

/** An anonymous request lacks most values that describe its caller. */
function holdsWithoutValue({ ifExists, set }: Condition): boolean {
  return ifExists || set === "all";
}

/** As in S3, a network larger than a /8, or a /32 of IPv6, is as good as everyone. */
const maxNetwork: Readonly<Record<Family, bigint>> = { ipv4: 1n << 24n, ipv6: 1n << 96n };
/** All networks together may have as many addresses as four such networks. */
const maxNetworks = 4n;

function isNarrow(networks: readonly Network[]): boolean {
  const isSmall = (network: Network) => sizeOf(network) <= maxNetwork[network.family];
  return networks.every(isSmall) && isNarrowSum(networks, "ipv4") && isNarrowSum(networks, "ipv6");
}

function isNarrowSum(networks: readonly Network[], family: Family): boolean {
  const sum = mergeNetworks(networks, family).reduce((total, one) => total + sizeOf(one), 0n);
  return sum <= maxNetworks * maxNetwork[family];
}

function sizeOf({ first, last }: Network): bigint {
  return last - first + 1n;
}
