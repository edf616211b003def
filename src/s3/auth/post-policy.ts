// Checks the fields of a POST form against its policy. Every field must match a condition.
import { parseIsoTime } from "../../model/iso-time.ts";
import { S3Error } from "../errors.ts";

interface Policy {
  readonly expiration: number;
  readonly conditions: readonly Condition[];
}

type Condition =
  | { readonly kind: "equals" | "starts"; readonly field: string; readonly value: string }
  | { readonly kind: "length"; readonly minBytes: number; readonly maxBytes: number };

/** Fields that need no condition in the policy. */
const exempt = new Set(["x-amz-signature", "policy", "file", "submit", "awsaccesskeyid", "signature"]);

export function checkPolicy(
  encoded: string,
  fields: ReadonlyMap<string, string>,
  now: number,
): { readonly minBytes: number; readonly maxBytes: number } {
  const { expiration, conditions } = readPolicy(encoded);
  if (now > expiration)
    throw new S3Error("AccessDenied", { message: "Invalid according to Policy: Policy expired." });
  const covered = new Set<string>();
  let [minBytes, maxBytes] = [0, Number.POSITIVE_INFINITY];
  for (const condition of conditions) {
    if (condition.kind === "length") {
      minBytes = Math.max(minBytes, condition.minBytes);
      maxBytes = Math.min(maxBytes, condition.maxBytes);
      continue;
    }
    const { field, value, kind } = condition;
    const given = fields.get(field) ?? "";
    covered.add(field);
    const isMet = kind === "equals" ? given === value : startsWith(field, given, value);
    if (!isMet) {
      throw new S3Error("AccessDenied", {
        message: `Invalid according to Policy: Policy Condition failed: ["${kind === "equals" ? "eq" : "starts-with"}", "$${field}", "${value}"]`,
      });
    }
  }
  for (const field of fields.keys()) {
    if (covered.has(field) || exempt.has(field) || field.startsWith("x-ignore-")) continue;
    throw new S3Error("AccessDenied", {
      message: `Invalid according to Policy: Extra input fields: ${field}`,
    });
  }
  return { minBytes, maxBytes };
}

/** Limits the work: every content type is compared with every condition. */
export const maxContentTypes = 100;

/** Content-Type may list several types; each type must start with the value. */
function startsWith(field: string, given: string, value: string): boolean {
  // Keys are never trimmed: " form/a" does not start with "form/".
  if (field !== "content-type") return given.startsWith(value);
  const types = given.split(",", maxContentTypes + 1);
  if (types.length > maxContentTypes) return false;
  return types.every((one) => one.trim().startsWith(value) || one.startsWith(value));
}

function readPolicy(encoded: string): Policy {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(encoded, "base64").toString("utf8"));
  } catch (cause) {
    throw new S3Error("InvalidPolicyDocument", { message: "Invalid Policy: Invalid JSON.", cause });
  }
  const { expiration, conditions } = (parsed ?? {}) as { expiration?: unknown; conditions?: unknown };
  const time = isExpiration(expiration) ? parseIsoTime(expiration) : undefined;
  if (time === undefined) throw invalid("Policy missing or invalid expiration.");
  if (!Array.isArray(conditions)) throw invalid("Policy missing conditions.");
  return { expiration: time, conditions: conditions.flatMap(readCondition) };
}

function isExpiration(value: unknown): value is string {
  return typeof value === "string" && /T\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);
}

function readCondition(condition: unknown): Condition[] {
  if (Array.isArray(condition)) return [readList(condition)];
  if (typeof condition !== "object" || condition === null)
    throw invalid("A condition must be a list or an object.");
  const entries = Object.entries(condition);
  if (entries.length === 0) throw invalid("A condition is empty.");
  return entries.map(([field, value]) => {
    if (typeof value !== "string") throw invalid("A condition's value is not a string.");
    return { kind: "equals", field: field.toLowerCase(), value };
  });
}

function readList(list: readonly unknown[]): Condition {
  const [operator, first, second] = list;
  const name = typeof operator === "string" ? operator.toLowerCase() : "";
  if (list.length !== 3) throw invalid("A condition must have three elements.");
  if (name === "content-length-range") {
    const [minBytes, maxBytes] = [parseLength(first), parseLength(second)];
    if (!Number.isSafeInteger(minBytes) || !Number.isSafeInteger(maxBytes) || minBytes < 0)
      throw invalid("content-length-range must have two whole numbers.");
    return { kind: "length", minBytes, maxBytes };
  }
  const isText = typeof first === "string" && first.startsWith("$") && typeof second === "string";
  if (!isText || (name !== "eq" && name !== "starts-with"))
    throw invalid("A condition must be eq, starts-with or content-length-range.");
  const field = first.slice(1).toLowerCase();
  return { kind: name === "eq" ? "equals" : "starts", field, value: second };
}

/** Accepts a number or a string of digits: clients send both. */
function parseLength(value: unknown): number {
  return typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
}

function invalid(message: string): S3Error {
  return new S3Error("InvalidPolicyDocument", { message: `Invalid Policy: ${message}` });
}
