// Parses a policy of a bucket or of a session. What is outside the supported part of S3's language
// is refused, never ignored: an ignored condition would give access that the author did not intend.
import { Buffer } from "node:buffer";
import type { Fields } from "../../model/shape.ts";
import {
  type ActionTarget,
  isForeignAction,
  isForeignResource,
  knownActions,
  listBucketsAction,
} from "./actions.ts";
import { tagKeys } from "./condition-keys.ts";
import { parseConditions } from "./conditions.ts";
import { parseStrictJson } from "./json.ts";
import {
  maxPolicyBytes,
  type Patterns,
  type Policy,
  PolicyError,
  type Principal,
  type SessionPolicy,
  type Statement,
} from "./policy.ts";
import { parsePrincipals } from "./principals.ts";
import { readFields, readText, readTexts, shorten } from "./shapes.ts";
import { compileWildcards, hasWildcard } from "./wildcard.ts";
import { freeWork } from "./work.ts";

export const maxStatements = 200;
const versions = ["2012-10-17", "2008-10-17"];

/** Parses the policy of this bucket. Throws a PolicyError that says what is wrong where. */
export function parsePolicy(text: string, bucket: string): Policy {
  return parse(text, bucket);
}

/** Parses the policy of a session, which may name any bucket and has no principals. */
export function parseSessionPolicy(text: string): SessionPolicy {
  const policy = parse(text, undefined);
  const named = policy.statements
    .filter(({ effect, resources }) => effect === "Allow" && !resources.isInverted)
    .flatMap(({ resources }) => resources.patterns.filter((text) => !isForeignResource(text)).map(bucketPart))
    .filter((name) => !hasWildcard(name));
  return { ...policy, namedBuckets: new Set(named) };
}

/** Undefined instead of a bucket: the policy of a session. */
function parse(text: string, bucket: string | undefined): Policy {
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
  const context = { bucket, targets: new Map() };
  const statements = list.map((value, i) => parseStatement(value, `Statement[${i}]`, context));
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

interface Context {
  /** Undefined: the policy of a session. */
  readonly bucket: string | undefined;
  /** What the actions concern, by pattern: each is compared with all actions once. */
  readonly targets: Map<string, ReadonlySet<ActionTarget>>;
}

function parseStatement(value: unknown, path: string, { bucket, targets }: Context): Statement {
  const fields = readStatementFields(value, path);
  if (fields.Effect !== "Allow" && fields.Effect !== "Deny") {
    throw new PolicyError(`${path}.Effect must be "Allow" or "Deny".`);
  }
  const principals = bucket === undefined ? refusePrincipal(fields, path) : readPrincipals(fields, path);
  const prefix = "arn:aws:s3:::";
  // As in AWS, the policy of a session may also speak of other services. That has no effect, because
  // their actions and resources are never those of a request to S3.
  const isSession = bucket === undefined;
  const resources = readPatterns(fields, path, "Resource", (text) => {
    if (isSession && isForeignResource(text)) return text;
    const pattern = text === "*" ? text : text.startsWith(prefix) ? text.slice(prefix.length) : "";
    const isFitting = bucket === undefined ? pattern !== "" : isMatch(bucketPart(pattern), bucket);
    if (!isFitting) throw invalidResource(path, text, bucket ?? "BUCKET");
    return pattern;
  });
  const isInverted = resources.isInverted || fields.NotAction !== undefined;
  // As in AWS, the policy of a session may have actions that do not apply: they have no effect.
  const isAnyTarget = isInverted || isSession;
  const possible = isAnyTarget ? everyTarget : resourceTargets(resources, bucket);
  const actions = readPatterns(fields, path, "Action", (text) => {
    const pattern = text.toLowerCase();
    const wanted = targets.get(pattern) ?? targetsOf(pattern);
    targets.set(pattern, wanted);
    if (isSession && (isForeignAction(text) || isMatch(pattern, listBucketsAction.toLowerCase())))
      return pattern;
    if (wanted.size === 0) throw new PolicyError(`${path} has the unknown action "${shorten(text)}".`);
    if (![...wanted].some((target) => possible.has(target))) throw inapplicable(path, text);
    return pattern;
  });
  return {
    sid: fields.Sid === undefined ? undefined : readText(fields.Sid, `${path}.Sid`),
    effect: fields.Effect,
    principals,
    actions,
    resources,
    conditions: parseConditions(fields.Condition, `${path}.Condition`),
  };
}

const everyone: readonly Principal[] = [{ kind: "everyone" }];

/** The caller of the session is the only principal. */
function refusePrincipal({ Principal }: Fields, path: string): readonly Principal[] {
  if (Principal === undefined) return everyone;
  throw new PolicyError(`${path}.Principal: the policy of a session must not have a principal.`);
}

function readPrincipals({ Principal }: Fields, path: string): readonly Principal[] {
  if (Principal === undefined) throw new PolicyError(`${path} has no Principal.`);
  return parsePrincipals(Principal, `${path}.Principal`);
}

function bucketPart(pattern: string): string {
  return pattern.split("/", 1)[0]!;
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
  fields: Fields,
  path: string,
  name: "Action" | "Resource",
  toPattern: (text: string) => string,
): Patterns {
  const inverse = `Not${name}`;
  const isInverted = fields[inverse] !== undefined;
  if (isInverted === (fields[name] !== undefined)) {
    throw new PolicyError(`${path} must have either ${name} or ${inverse}.`);
  }
  const used = isInverted ? inverse : name;
  const patterns = readTexts(fields[used], `${path}.${used}`).map(toPattern);
  const matches = compileWildcards(patterns);
  return { patterns, isInverted, matches: (text, work) => matches(text, work) !== isInverted };
}

function isMatch(pattern: string, text: string): boolean {
  return compileWildcards([pattern])(text, freeWork);
}

/** As in S3, an action on objects needs a resource that can be an object, and the other way round. */
function inapplicable(path: string, action: string): PolicyError {
  return new PolicyError(`${path}: the action "${shorten(action)}" does not apply to any of the resources.`);
}

const everyTarget: ReadonlySet<ActionTarget> = new Set(["bucket", "object"]);

function resourceTargets(resources: Patterns, bucket: string): ReadonlySet<ActionTarget> {
  const targets = new Set<ActionTarget>();
  if (resources.matches(bucket, freeWork)) targets.add("bucket");
  const isObject = (pattern: string) => pattern.includes("/") || pattern.endsWith("*");
  if (resources.patterns.some(isObject)) targets.add("object");
  return targets;
}

/** Returns what the actions that match the pattern concern. */
function targetsOf(pattern: string): ReadonlySet<ActionTarget> {
  const matches = compileWildcards([pattern]);
  const targets = new Set<ActionTarget>();
  for (const [name, target] of knownActions) {
    if (matches(name, freeWork)) targets.add(target);
    if (targets.size === everyTarget.size) break;
  }
  return targets;
}

function invalidResource(path: string, text: string, bucket: string): PolicyError {
  return new PolicyError(
    `${path} has the invalid resource "${shorten(text)}": use arn:aws:s3:::${bucket} or arn:aws:s3:::${bucket}/KEY.`,
  );
}

function checkSids(statements: readonly Statement[]): void {
  const seen = new Set<string>();
  for (const { sid } of statements) {
    if (sid === undefined || sid === "") continue;
    if (seen.has(sid)) throw new PolicyError(`The Sid "${shorten(sid)}" is used twice.`);
    seen.add(sid);
  }
}
