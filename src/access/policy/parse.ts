// Parses a bucket policy. What is outside the supported part of S3's language is refused, never
// ignored: an ignored condition would give access that the author did not intend.
import { type ActionTarget, knownActions } from "./actions.ts";
import { tagKeys } from "./condition-keys.ts";
import { parseConditions } from "./conditions.ts";
import { parseStrictJson } from "./json.ts";
import { maxPolicyBytes, type Patterns, type Policy, PolicyError, type Statement } from "./policy.ts";
import { parsePrincipals } from "./principals.ts";
import { readFields, readText, readTexts, shorten } from "./shapes.ts";
import { matchesWildcard } from "./wildcard.ts";

const maxStatements = 200;
const versions = ["2012-10-17", "2008-10-17"];

/** Parses the policy of this bucket. Throws a PolicyError that says what is wrong where. */
export function parsePolicy(text: string, bucket: string): Policy {
  if (Buffer.byteLength(text) > maxPolicyBytes) {
    throw new PolicyError(`The policy is larger than ${maxPolicyBytes} bytes.`);
  }
  const fields = readFields(parseStrictJson(text), "The policy", ["Version", "Id", "Statement"]);
  if (fields.Version !== undefined && !versions.some((version) => version === fields.Version)) {
    throw new PolicyError(`Version must be ${versions.join(" or ")}.`);
  }
  if (fields.Id !== undefined) readText(fields.Id, "Id");
  if (fields.Statement === undefined) throw new PolicyError("The policy has no Statement.");
  const list = Array.isArray(fields.Statement) ? (fields.Statement as unknown[]) : [fields.Statement];
  if (list.length === 0) throw new PolicyError("Statement must not be empty.");
  if (list.length > maxStatements)
    throw new PolicyError(`Statement has more than ${maxStatements} statements.`);
  const statements = list.map((value, i) => parseStatement(value, `Statement[${i}]`, bucket));
  checkSids(statements);
  const usesKey = (isKey: (key: string) => boolean) =>
    statements.some(({ conditions }) => conditions.some(({ key }) => isKey(key)));
  return {
    statements,
    usesExistingTags: usesKey((key) => key.startsWith(tagKeys.existing)),
    usesRequestTags: usesKey((key) => key.startsWith("s3:requestobjecttag")),
  };
}

const statementFields = [
  ...["Sid", "Effect", "Principal", "Action", "NotAction", "Resource", "NotResource", "Condition"],
];

function parseStatement(value: unknown, path: string, bucket: string): Statement {
  const fields = readStatementFields(value, path);
  if (fields.Effect !== "Allow" && fields.Effect !== "Deny") {
    throw new PolicyError(`${path}.Effect must be "Allow" or "Deny".`);
  }
  if (fields.Principal === undefined) throw new PolicyError(`${path} has no Principal.`);
  const actions = readPatterns(fields, path, "Action");
  for (const action of actions.patterns) checkAction(action, path);
  const resources = readPatterns(fields, path, "Resource");
  const prefix = "arn:aws:s3:::";
  const patterns = resources.patterns.map((text) => {
    const pattern = text === "*" ? text : text.startsWith(prefix) ? text.slice(prefix.length) : "";
    if (!matchesWildcard(pattern.split("/", 1)[0]!, bucket)) throw invalidResource(path, text, bucket);
    return pattern;
  });
  checkTargets(actions, { ...resources, patterns }, path, bucket);
  return {
    sid: fields.Sid === undefined ? undefined : readText(fields.Sid, `${path}.Sid`),
    effect: fields.Effect,
    principals: parsePrincipals(fields.Principal, `${path}.Principal`),
    actions: { ...actions, patterns: actions.patterns.map((pattern) => pattern.toLowerCase()) },
    resources: { ...resources, patterns },
    conditions: parseConditions(fields.Condition, `${path}.Condition`),
  };
}

function readStatementFields(value: unknown, path: string) {
  if (typeof value === "object" && value !== null && Object.hasOwn(value, "NotPrincipal")) {
    throw new PolicyError(
      `${path}.NotPrincipal is not supported: use Principal, with a condition on aws:PrincipalArn if needed.`,
    );
  }
  return readFields(value, path, statementFields);
}

function readPatterns(
  fields: Readonly<Record<string, unknown>>,
  path: string,
  name: "Action" | "Resource",
): Patterns {
  const inverse = `Not${name}`;
  const isInverted = fields[inverse] !== undefined;
  if (isInverted === (fields[name] !== undefined)) {
    throw new PolicyError(`${path} must have either ${name} or ${inverse}.`);
  }
  const used = isInverted ? inverse : name;
  return { patterns: readTexts(fields[used], `${path}.${used}`), isInverted };
}

function checkAction(pattern: string, path: string): void {
  if (targetsOf(pattern).size > 0) return;
  throw new PolicyError(`${path} has the unknown action "${shorten(pattern)}".`);
}

/** Returns what the actions that match the pattern concern. */
function targetsOf(pattern: string): Set<ActionTarget> {
  const lower = pattern.toLowerCase();
  if (lower === "*" || lower === "s3:*") return new Set(["bucket", "object"]);
  const targets = new Set<ActionTarget>();
  for (const [name, target] of knownActions) if (matchesWildcard(lower, name)) targets.add(target);
  return targets;
}

function invalidResource(path: string, text: string, bucket: string): PolicyError {
  return new PolicyError(
    `${path} has the invalid resource "${shorten(text)}": use arn:aws:s3:::${bucket} or arn:aws:s3:::${bucket}/KEY.`,
  );
}

/** As in S3, an action on objects needs a resource that can be an object, and the other way round. */
function checkTargets(actions: Patterns, resources: Patterns, path: string, bucket: string): void {
  if (actions.isInverted || resources.isInverted) return;
  const hasObject = resources.patterns.some((pattern) => pattern.includes("/") || pattern.endsWith("*"));
  const hasBucket = resources.patterns.some((pattern) => matchesWildcard(pattern, bucket));
  for (const action of actions.patterns) {
    const targets = targetsOf(action);
    if ((hasObject && targets.has("object")) || (hasBucket && targets.has("bucket"))) continue;
    throw new PolicyError(`${path}: the action "${shorten(action)}" does not apply to any of the resources.`);
  }
}

function checkSids(statements: readonly Statement[]): void {
  const seen = new Set<string>();
  for (const { sid } of statements) {
    if (sid === undefined || sid === "") continue;
    if (seen.has(sid)) throw new PolicyError(`The Sid "${shorten(sid)}" is used twice.`);
    seen.add(sid);
  }
}
