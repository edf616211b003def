// Evaluates a policy for a request: an explicit Deny wins, then an Allow counts. A request that costs
// more than its budget is denied.
import { type FindValues, holds } from "./conditions.ts";
import type { Policy, Statement } from "./policy.ts";
import { includesCaller, type PolicyCaller } from "./principals.ts";
import { createWork, freeWork, maxValueLength, type Work, WorkExceeded } from "./work.ts";

export interface PolicyRequest {
  readonly caller: PolicyCaller;
  /** All of them must be allowed, and none denied. */
  readonly actions: readonly string[];
  /** The bucket's name, or `bucket/key`. */
  readonly resource: string;
  readonly values: FindValues;
  /** Budget that several decisions of a request share. Default: one of this decision. */
  readonly work?: Work | undefined;
}

/** "neutral": the policy says nothing about the request. */
export type PolicyEffect = "allow" | "deny" | "neutral";

export function evaluatePolicy(policy: Policy, request: PolicyRequest): PolicyEffect {
  try {
    return evaluate(policy, request);
  } catch (error) {
    // What was not compared might have denied the request.
    if (error instanceof WorkExceeded) return "deny";
    throw error;
  }
}

function evaluate(policy: Policy, request: PolicyRequest): PolicyEffect {
  const { actions, resource, work = createWork() } = request;
  work.begin();
  if (resource.length > maxValueLength) return "deny";
  const isApplied = (statement: Statement) => isApplicable(statement, request, work);
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
  const about = policy.statements.filter(({ actions }) => actions.matches(lower, freeWork));
  const statements = {
    allow: about.filter(({ effect }) => effect === "Allow"),
    deny: about.filter(({ effect }) => effect === "Deny"),
  };
  if (known.size < 1000) known.set(action, statements);
  return statements;
}

function isApplicable(statement: Statement, request: PolicyRequest, work: Work): boolean {
  const { effect, principals, resources, conditions } = statement;
  work.spend(principals.length);
  return (
    principals.some((principal) => includesCaller(principal, request.caller, effect)) &&
    resources.matches(request.resource, work) &&
    conditions.every((condition) => holds(condition, request.values, work))
  );
}

/** Whether a statement could allow the caller one of the actions, on some resource. */
export function mayAllow(policy: Policy, caller: PolicyCaller, actions: readonly string[]): boolean {
  const names = actions.map((action) => action.toLowerCase());
  return policy.statements.some(
    ({ effect, principals, actions: patterns }) =>
      effect === "Allow" &&
      principals.some((principal) => includesCaller(principal, caller, effect)) &&
      names.some((name) => patterns.matches(name, freeWork)),
  );
}
