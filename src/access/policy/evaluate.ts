// Evaluates a policy for a request: an explicit Deny wins, then an Allow counts.
import { type FindValues, holds } from "./conditions.ts";
import type { Patterns, Policy, Statement } from "./policy.ts";
import { includesCaller, type PolicyCaller } from "./principals.ts";
import { matchesWildcard } from "./wildcard.ts";

export interface PolicyRequest {
  readonly caller: PolicyCaller;
  /** All of them must be allowed, and none denied. */
  readonly actions: readonly string[];
  /** The bucket's name, or `bucket/key`. */
  readonly resource: string;
  readonly values: FindValues;
}

/** "neutral": the policy says nothing about the request. */
export type PolicyEffect = "allow" | "deny" | "neutral";

export function evaluatePolicy(policy: Policy, request: PolicyRequest): PolicyEffect {
  const applies = (effect: "Allow" | "Deny", action: string) =>
    policy.statements.some(
      (statement) => statement.effect === effect && isApplicable(statement, action, request),
    );
  const actions = request.actions.map(toLower);
  if (actions.some((action) => applies("Deny", action))) return "deny";
  // A request without an action is a mistake of the caller: it is not allowed.
  if (actions.length === 0) return "neutral";
  return actions.every((action) => applies("Allow", action)) ? "allow" : "neutral";
}

/** The actions of operations in lowercase. There are only as many as operations have. */
const lowerActions = new Map<string, string>();

function toLower(action: string): string {
  const known = lowerActions.get(action);
  if (known !== undefined) return known;
  const lower = action.toLowerCase();
  if (lowerActions.size < 1000) lowerActions.set(action, lower);
  return lower;
}

function isApplicable(statement: Statement, action: string, request: PolicyRequest): boolean {
  const { effect, principals, actions, resources, conditions } = statement;
  return (
    principals.some((principal) => includesCaller(principal, request.caller, effect)) &&
    matchesPatterns(actions, action) &&
    matchesPatterns(resources, request.resource) &&
    conditions.every((condition) => holds(condition, request.values))
  );
}

function matchesPatterns({ patterns, isInverted }: Patterns, text: string): boolean {
  return patterns.some((pattern) => matchesWildcard(pattern, text)) !== isInverted;
}

/** Whether a statement could allow the caller one of the actions, on some resource. */
export function mayAllow(policy: Policy, caller: PolicyCaller, actions: readonly string[]): boolean {
  return policy.statements.some(
    ({ effect, principals, actions: patterns }) =>
      effect === "Allow" &&
      principals.some((principal) => includesCaller(principal, caller, effect)) &&
      actions.some((action) => matchesPatterns(patterns, action.toLowerCase())),
  );
}
