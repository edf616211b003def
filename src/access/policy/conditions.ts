// Parses the conditions of a statement, and evaluates them with the values of a request.
import { parseIsoTime } from "../../model/iso-time.ts";
import { isFields } from "../../model/shape.ts";
import { createNetworkMatcher, parseNetwork } from "./addresses.ts";
import { type ConditionKey, parseConditionKey, type ValueKind } from "./condition-keys.ts";
import { type Condition, type Operator, operators, PolicyError } from "./policy.ts";
import { readTexts, shorten } from "./shapes.ts";
import { compileWildcards } from "./wildcard.ts";
import { maxValueLength, type Work, WorkExceeded } from "./work.ts";

/** Returns the values that a request has for a condition key; undefined if it has none. */
export type FindValues = (key: string) => readonly string[] | undefined;

export function parseConditions(value: unknown, path: string): readonly Condition[] {
  if (value === undefined) return [];
  if (!isFields(value)) throw new PolicyError(`${path} must be an object.`);
  return Object.entries(value).flatMap(([name, keys]) => {
    const operator = parseOperator(name, path);
    const operatorPath = `${path}.${name}`;
    if (!isFields(keys) || Object.keys(keys).length === 0) {
      throw new PolicyError(`${operatorPath} must be an object with at least one condition key.`);
    }
    return Object.entries(keys).map(([key, values]) =>
      parseCondition(operator, key, values, `${operatorPath}.${shorten(key)}`),
    );
  });
}

type ParsedOperator = Pick<Condition, "operator" | "ifExists" | "set">;

function parseOperator(text: string, path: string): ParsedOperator {
  const [, set, name, ifExists] = /^(?:(ForAnyValue|ForAllValues):)?(\w+?)(IfExists)?$/.exec(text) ?? [];
  const operator = operators.find((one) => one === name);
  const isValid = operator !== undefined && !(operator === "Null" && (ifExists ?? set) !== undefined);
  if (!isValid) throw new PolicyError(`${path} has the unknown operator "${shorten(text)}".`);
  return {
    operator,
    ifExists: ifExists !== undefined,
    set: set === undefined ? undefined : set === "ForAnyValue" ? "any" : "all",
  };
}

function parseCondition(operator: ParsedOperator, key: string, given: unknown, path: string): Condition {
  const parsed = parseConditionKey(key);
  if (parsed === undefined) throw new PolicyError(`${path}: this condition key is not supported.`);
  checkOperator(operator.operator, parsed, path);
  const values = readTexts(toText(given, operator.operator), path);
  return { ...operator, key: parsed.name, values, matches: createMatcher(operator.operator, values, path) };
}

/** As in S3, numbers and booleans need no quotes. */
function toText(given: unknown, operator: Operator): unknown {
  if (Array.isArray(given)) return given.map((one) => toText(one, operator));
  const isBoolean = (operator === "Bool" || operator === "Null") && typeof given === "boolean";
  const isNumber = operator.startsWith("Numeric") && typeof given === "number";
  return isBoolean || isNumber ? String(given) : given;
}

const families: readonly (readonly [pattern: RegExp, kinds: readonly ValueKind[]])[] = [
  [/^String/, ["text", "arn", "number"]],
  [/^Arn/, ["arn"]],
  [/^Numeric/, ["number"]],
  [/^Date/, ["date"]],
  [/^Bool/, ["bool"]],
  [/IpAddress$/, ["address"]],
];

function checkOperator(operator: Operator, { kind }: ConditionKey, path: string): void {
  if (operator === "Null") return;
  const isFitting = families.some(([pattern, kinds]) => pattern.test(operator) && kinds.includes(kind));
  if (!isFitting) throw new PolicyError(`${path}: ${operator} does not fit this condition key.`);
}

/** Negative operators have the matcher of the positive one; the evaluation negates it. */
function createMatcher(operator: Operator, values: readonly string[], path: string): Condition["matches"] {
  if (/^(Bool|Null)$/.test(operator)) {
    const wanted = values.map((value) => parseWith(parseBool, value, path));
    return (given) => wanted.some((value) => String(value) === given);
  }
  if (operator.endsWith("IpAddress")) {
    return createNetworkMatcher(values.map((value) => parseWith(parseNetwork, value, path)));
  }
  if (operator.startsWith("Numeric")) return compareWith(operator, values, parseNumber, path);
  if (operator.startsWith("Date")) return compareWith(operator, values, parseDate, path);
  if (operator.endsWith("IgnoreCase")) {
    const wanted = new Set(values.map((value) => value.toLowerCase()));
    return (given) => wanted.has(given.toLowerCase());
  }
  if (operator.endsWith("Like") || operator.startsWith("Arn")) return compileWildcards(values);
  const wanted = new Set(values);
  return (given) => wanted.has(given);
}

function compareWith(
  operator: Operator,
  values: readonly string[],
  parse: (text: string) => number | undefined,
  path: string,
): Condition["matches"] {
  const wanted = values.map((value) => parseWith(parse, value, path));
  const comparison = operator.replace(/^(Numeric|Date)(Not)?/, "");
  return (text, work) => {
    work.spend(wanted.length);
    const given = parse(text);
    return given !== undefined && wanted.some((value) => compare(comparison, given, value));
  };
}

function compare(comparison: string, given: number, value: number): boolean {
  if (comparison === "LessThan") return given < value;
  if (comparison === "LessThanEquals") return given <= value;
  if (comparison === "GreaterThan") return given > value;
  if (comparison === "GreaterThanEquals") return given >= value;
  return given === value;
}

function parseWith<T>(parse: (text: string) => T | undefined, text: string, path: string): T {
  const value = parse(text);
  if (value === undefined) throw new PolicyError(`${path} has the invalid value "${shorten(text)}".`);
  return value;
}

function parseBool(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  return lower === "true" || lower === "false" ? lower === "true" : undefined;
}

function parseNumber(text: string): number | undefined {
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
}

/** A date of ISO 8601, or seconds since the epoch. */
function parseDate(text: string): number | undefined {
  return /^\d{1,12}$/.test(text) ? Number(text) * 1000 : parseIsoTime(text);
}

/** Cost of a condition beside the characters of its values. */
const conditionUnits = 16;

export function holds(condition: Condition, find: FindValues, work: Work): boolean {
  const { operator, ifExists, set, key, matches } = condition;
  const given = find(key) ?? [];
  for (const value of given) {
    if (value.length > maxValueLength) throw new WorkExceeded();
    work.spend(conditionUnits + value.length);
  }
  if (operator === "Null") return matches(String(given.length === 0), work);
  const isNegative = operator.includes("Not");
  // As in S3, a value that the request does not have differs from every value.
  if (given.length === 0) return ifExists || (set === undefined ? isNegative : set === "all");
  const isMet = (value: string) => matches(value, work) !== isNegative;
  return set === "any" || (set === undefined && !isNegative) ? given.some(isMet) : given.every(isMet);
}
