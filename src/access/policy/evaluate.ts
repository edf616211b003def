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
  const { actions } = request;
  const isApplied = (statement: Statement) => isApplicable(statement, request);
  for (const action of actions) if (statementsAbout(policy, action).deny.some(isApplied)) return "deny";
  // A request without an action is a mistake of the caller: it is not allowed.
  if (actions.length === 0) return "neutral";
  return actions.every((action) => statementsAbout(policy, action).allow.some(isApplied))
    ? "allow"
    : "neutral";
}

interface StatementsByEffect {
  readonly allow: readonly Statement[];
  readonly deny: readonly Statement[];
}

/** Statements by action. There are only as many actions as operations have. */
const statementsByAction = new WeakMap<Policy, Map<string, StatementsByEffect>>();

/** Returns the statements of a policy that are about an action, for some caller and resource. */
function statementsAbout(policy: Policy, action: string): StatementsByEffect {
  let known = statementsByAction.get(policy);
  if (known === undefined) {
    known = new Map();
    statementsByAction.set(policy, known);
  }
  const found = known.get(action);
  if (found !== undefined) return found;
  const lower = action.toLowerCase();
  const about = policy.statements.filter(({ actions }) => matchesPatterns(actions, lower));
  const statements = {
    allow: about.filter(({ effect }) => effect === "Allow"),
    deny: about.filter(({ effect }) => effect === "Deny"),
  };
  if (known.size < 1000) known.set(action, statements);
  return statements;
}

function isApplicable(statement: Statement, request: PolicyRequest): boolean {
  const { effect, principals, resources, conditions } = statement;
  return (
    principals.some((principal) => includesCaller(principal, request.caller, effect)) &&
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
