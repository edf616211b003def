// Reads the rules of a bucket from JSON. Wrong values become NaN or are omitted, which the validation
// in the model reports.
import { isDeepStrictEqual } from "node:util";
import type { LockCondition, LockRule } from "../../model/lock.ts";
import type { CorsRule } from "../../model/settings/cors.ts";
import type { LifecycleRule, NoncurrentWhen, When, WithClassName } from "../../model/settings/lifecycle.ts";
import { isFields } from "../../model/shape.ts";
import { ConsoleError } from "../response.ts";

export type JsonFields = Readonly<Record<string, unknown>>;

export function parseLifecycleRule(given: JsonFields, index: number): LifecycleRule {
  const expireNoncurrent = parseNoncurrent(given.expireNoncurrent);
  const transitionNoncurrent = parseNoncurrent(given.transitionNoncurrent);
  const transition = parseWhen(given.transition);
  const tags = pairList(given, "tags");
  return {
    id: ruleName(given, index),
    isEnabled: given.isEnabled === true,
    prefix: optionalText(given, "prefix") ?? "",
    largerThan: optionalNumber(given, "largerThan"),
    smallerThan: optionalNumber(given, "smallerThan"),
    expire: parseWhen(given.expire),
    transition,
    abortUploadsAfter: optionalNumber(given, "abortUploadsAfter"),
    ...(tags.length > 0 && { tags }),
    ...(expireNoncurrent && { expireNoncurrent }),
    ...(transitionNoncurrent && { transitionNoncurrent }),
    ...parseNamed(given, { transition, transitionNoncurrent }),
    ...(given.expireMarkers === true && { expireMarkers: true }),
  };
}

export function parseCorsRule(given: JsonFields): CorsRule {
  return {
    id: optionalText(given, "id")?.trim() || undefined,
    origins: textList(given, "origins"),
    methods: textList(given, "methods"),
    headers: textList(given, "headers"),
    exposed: textList(given, "exposed"),
    maxAgeSeconds: optionalNumber(given, "maxAgeSeconds"),
  };
}

export function parseLockRule(given: JsonFields, index: number): LockRule {
  return {
    id: ruleName(given, index),
    isEnabled: given.isEnabled === true,
    prefix: optionalText(given, "prefix") ?? "",
    condition: parseLockCondition(isFields(given.condition) ? given.condition : {}),
  };
}

function parseLockCondition(given: JsonFields): LockCondition {
  if (given.kind === "indefinite") return { kind: "indefinite" };
  if (given.kind === "date") return { kind: "date", date: optionalNumber(given, "date") ?? Number.NaN };
  return { kind: "age", seconds: optionalNumber(given, "seconds") ?? Number.NaN };
}

function ruleName(given: JsonFields, index: number): string {
  return optionalText(given, "id")?.trim() || `rule-${index + 1}`;
}

function optionalText(given: JsonFields, name: string): string | undefined {
  const value = given[name];
  return typeof value === "string" ? value : undefined;
}

/** Passes invalid numbers to the validation, which reports them. */
function optionalNumber(given: JsonFields, name: string): number | undefined {
  const value = given[name];
  if (value === undefined) return undefined;
  return typeof value === "number" ? value : Number.NaN;
}

function textList(given: JsonFields, name: string): string[] {
  const value = given[name];
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

/** Refuses wrong values: a rule with fewer tags would apply to more objects. */
function pairList(given: JsonFields, name: string): readonly (readonly [string, string])[] {
  const value = given[name] ?? [];
  if (Array.isArray(value) && value.every(isPair)) return value;
  throw new ConsoleError(400, `"${name}" must be pairs of strings.`);
}

export function isPair(value: unknown): value is readonly [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === "string");
}

/** The page does not show names of classes. It sends them back, and changes only the first age. */
function parseNamed(
  given: JsonFields,
  { transition, transitionNoncurrent }: Pick<LifecycleRule, "transition" | "transitionNoncurrent">,
): Pick<LifecycleRule, "namedTransitions" | "namedNoncurrent"> {
  const namedTransitions = namedList(given.namedTransitions, parseWhen);
  const namedNoncurrent = namedList(given.namedNoncurrent, parseNoncurrent);
  const startsWith = (named: readonly object[], first: object | undefined) =>
    named[0] !== undefined &&
    isDeepStrictEqual({ ...named[0], className: undefined }, { ...first, className: undefined });
  return {
    ...(startsWith(namedTransitions, transition) && { namedTransitions }),
    ...(startsWith(namedNoncurrent, transitionNoncurrent) && { namedNoncurrent }),
  };
}

function namedList<W>(given: unknown, parse: (value: unknown) => W | undefined): readonly WithClassName<W>[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((value) => {
    const when = parse(value);
    if (when === undefined) return [];
    return [{ ...when, className: optionalText(value as JsonFields, "className") }];
  });
}

function parseWhen(value: unknown): When | undefined {
  if (!isFields(value)) return undefined;
  const date = optionalNumber(value, "date");
  return date === undefined ? { days: optionalNumber(value, "days") ?? Number.NaN } : { date };
}

function parseNoncurrent(value: unknown): NoncurrentWhen | undefined {
  if (!isFields(value)) return undefined;
  const keep = optionalNumber(value, "keep");
  const days = optionalNumber(value, "days") ?? Number.NaN;
  return keep === undefined ? { days } : { days, keep };
}
