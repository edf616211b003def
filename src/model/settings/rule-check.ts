// Validates rules that a user wrote for a bucket. Reports every error with its rule and field: a
// front end refuses the rules with the first error, an editor shows all errors.

import { Buffer } from "node:buffer";
import { StoreError } from "../errors.ts";
import { dayMilliseconds, limits } from "../limits.ts";
import type { LockRule } from "../lock.ts";
import { isSendable } from "../metadata.ts";
import { checkTags, maxObjectTags } from "../tags.ts";
import type { CorsRule } from "./cors.ts";
import type { LifecycleRule, When } from "./lifecycle.ts";

export interface RuleFlaw {
  /** Index of the rule, from 0. Undefined if the error concerns the whole list. */
  readonly rule: number | undefined;
  readonly field: string | undefined;
  /** The S3 error class: malformed document, invalid argument, or unsupported request. */
  readonly kind: "malformed" | "argument" | "request";
  readonly message: string;
}

type ReportFlaw = (field: string | undefined, kind: RuleFlaw["kind"], message: string) => void;

export const maxLifecycleRules = 1000;
export const maxCorsRules = 100;
/** Values in one list of a CORS rule. */
export const maxCorsValues = 100;
/** Values in all CORS rules of a bucket: anyone can make the server compare with them. */
export const maxCorsTotal = 2000;
export const corsMethods = ["GET", "PUT", "POST", "DELETE", "HEAD"] as const;
export const maxLockRules = 1000;
/** A thousand years. */
const maxLockSeconds = 365_000 * 24 * 3600;
const maxLockDate = Date.UTC(9999, 11, 31);
const maxIdLength = 255;
/** A token of HTTP. The wildcard is one of its characters. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const maxNumber = 999_999_999;

export function lifecycleFlaws(rules: readonly LifecycleRule[]): RuleFlaw[] {
  const ids = new Set<string>();
  return findFlaws(rules, maxLifecycleRules, (rule, report) => {
    const { id, expire, transition, abortUploadsAfter, largerThan, smallerThan } = rule;
    const { expireNoncurrent, transitionNoncurrent, expireMarkers } = rule;
    if (id.length > maxIdLength) report("id", "argument", "ID length should not exceed allowed limit of 255");
    if (ids.has(id)) {
      report("id", "argument", "Rule ID must be unique. Found same ID for more than one rule");
    }
    ids.add(id);
    checkPrefix(rule, report);
    for (const [field, size] of Object.entries({ largerThan, smallerThan })) {
      if (size !== undefined && !isCount(size, 0, Number.MAX_SAFE_INTEGER)) {
        report(field, "malformed", "Write a size in bytes, as a whole number.");
      }
    }
    if (largerThan !== undefined && smallerThan !== undefined && smallerThan <= largerThan + 1) {
      report(
        "smallerThan",
        "request",
        "The minimum size is not below the maximum size: no object can match.",
      );
    }
    if (expire !== undefined) checkWhen("expire", expire, report);
    if (transition !== undefined) checkWhen("transition", transition, report);
    checkNamedTransitions(rule, report);
    if (abortUploadsAfter !== undefined) checkDays("abortUploadsAfter", abortUploadsAfter, report);
    checkNoncurrent(rule, report);
    checkTagFilter(rule, report);
    const action = expire ?? transition ?? abortUploadsAfter;
    if ((action ?? expireNoncurrent ?? transitionNoncurrent ?? expireMarkers) === undefined) {
      report(undefined, "request", "At least one action needs to be specified in a rule");
    }
  });
}

/** More than S3 has classes. */
const maxTransitions = 10;
const namePattern = /^[A-Z_]{1,32}$/;

function checkNamedTransitions(rule: LifecycleRule, report: ReportFlaw): void {
  const { namedTransitions = [], namedNoncurrent = [] } = rule;
  // Too many are reported below, and not checked one by one.
  for (const when of namedTransitions.slice(0, maxTransitions)) checkWhen("transition", when, report);
  if (new Set(namedTransitions.map((when) => "days" in when)).size > 1)
    report("transition", "request", "Found mixed 'Date' and 'Days' based Transition actions in one rule");
  for (const [field, named] of [
    ["transition", namedTransitions],
    ["transitionNoncurrent", namedNoncurrent],
  ] as const) {
    const names = named.map(({ className }) => className);
    const areValid = names.every((name) => name === undefined || namePattern.test(name));
    if (named.length > maxTransitions || !areValid)
      report(field, "malformed", `Use at most ${maxTransitions} transitions to classes of S3.`);
    if (new Set(names).size < names.length)
      report(field, "request", "'StorageClass' must be different for the transitions of one rule");
  }
}

const maxKeptVersions = 100;

function checkNoncurrent(rule: LifecycleRule, report: ReportFlaw): void {
  const { expireNoncurrent, transitionNoncurrent, namedNoncurrent, isBare } = rule;
  for (const [field, age] of [
    ["expireNoncurrent", expireNoncurrent],
    ...(namedNoncurrent ?? [transitionNoncurrent])
      .slice(0, maxTransitions)
      .map((age) => ["transitionNoncurrent", age] as const),
  ] as const) {
    if (age === undefined) continue;
    const { days, keep } = age;
    checkDays(field, days, report, "NoncurrentDays");
    if (keep === undefined) continue;
    if (!isCount(keep, 1, maxKeptVersions)) {
      report(field, "argument", `'NewerNoncurrentVersions' must be between 1 and ${maxKeptVersions}`);
    }
    if (isBare === true)
      report(field, "request", "'NewerNoncurrentVersions' can only be used in a rule with a Filter");
  }
  if (expireNoncurrent === undefined || transitionNoncurrent === undefined) return;
  if (expireNoncurrent.days <= transitionNoncurrent.days) {
    report(
      "expireNoncurrent",
      "argument",
      "'NoncurrentDays' in the NoncurrentVersionExpiration action must be greater than 'NoncurrentDays' in the NoncurrentVersionTransition action",
    );
  }
}

/** Uploads and delete markers have no tags, so a filter by tag cannot select them. */
function checkTagFilter({ tags, abortUploadsAfter, expireMarkers }: LifecycleRule, report: ReportFlaw): void {
  if (tags === undefined) return;
  if (new Set(tags.map(([key]) => key)).size < tags.length) {
    report("tags", "request", "Duplicate Tag Keys are not allowed.");
  }
  if (abortUploadsAfter !== undefined) {
    report("tags", "request", "AbortIncompleteMultipartUpload cannot be specified with Tags.");
  }
  if (expireMarkers === true) {
    report("tags", "request", "ExpiredObjectDeleteMarker cannot be specified with Tags.");
  }
  try {
    checkTags(new Map(tags), maxObjectTags);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    report("tags", "argument", error.detail);
  }
}

function checkWhen(field: string, when: When, report: ReportFlaw): void {
  if ("days" in when) checkDays(field, when.days, report);
  else if (!Number.isSafeInteger(when.date)) report(field, "malformed", "Write a date, such as 2027-01-31.");
  else if (when.date % dayMilliseconds !== 0) report(field, "argument", "'Date' must be at midnight GMT");
}

function checkDays(field: string, days: number, report: ReportFlaw, name = "Days"): void {
  if (!isCount(days, Number.MIN_SAFE_INTEGER, maxNumber)) {
    report(field, "malformed", "Write a whole number of days.");
  } else if (days <= 0) report(field, "argument", `'${name}' must be a positive integer`);
}

export function corsFlaws(rules: readonly CorsRule[]): RuleFlaw[] {
  let total = 0;
  const flaws = findFlaws(rules, maxCorsRules, (rule, report) => {
    const { origins, methods, headers, exposed, maxAgeSeconds } = rule;
    const lists = Object.entries({ methods, origins, headers, exposed });
    const long = lists.filter(([, texts]) => texts.length > maxCorsValues);
    for (const [field] of long) report(field, "request", `At most ${maxCorsValues} values.`);
    if (long.length > 0) return;
    total += lists.reduce((sum, [, texts]) => sum + texts.length, 0);
    if (methods.length === 0) report("methods", "malformed", "Choose at least one method.");
    if (origins.length === 0) report("origins", "malformed", "Name at least one origin, or * for every one.");
    checkCorsTexts(rule, report);
    if (maxAgeSeconds !== undefined && !isCount(maxAgeSeconds, -maxNumber, maxNumber)) {
      report("maxAgeSeconds", "malformed", "Write a whole number of seconds.");
    }
  });
  const message = `The rules have more than ${maxCorsTotal} methods, origins and headers in all.`;
  return total <= maxCorsTotal
    ? flaws
    : [...flaws, { rule: undefined, field: undefined, kind: "request", message }];
}

function checkCorsTexts({ origins, methods, headers, exposed }: CorsRule, report: ReportFlaw): void {
  for (const [field, texts] of Object.entries({ origins, headers, exposed })) {
    if (!texts.every(isSendable)) {
      report(field, "malformed", "The value contains a control character, which a header cannot contain.");
    }
  }
  const unknown = methods.find((method) => !corsMethods.some((supported) => supported === method));
  if (unknown !== undefined) {
    const message = `Found unsupported HTTP method in CORS config. Unsupported method is ${unknown}`;
    report("methods", "request", message);
  }
  for (const [field, texts] of Object.entries({ headers, exposed })) {
    const invalid = texts.find((text) => isSendable(text) && !headerName.test(text));
    if (invalid !== undefined) report(field, "request", `Header "${invalid}" contains invalid character.`);
  }
  for (const [field, texts] of Object.entries({ origins, headers })) {
    const multiWildcard = texts.find((text) => text.split("*").length > 2);
    if (multiWildcard !== undefined) {
      report(field, "request", `"${multiWildcard}" can not have more than one wildcard.`);
    }
  }
}

export function lockRuleFlaws(rules: readonly LockRule[]): RuleFlaw[] {
  const ids = new Set<string>();
  return findFlaws(rules, maxLockRules, (rule, report) => {
    const { id, condition } = rule;
    if (id.length > maxIdLength)
      report("id", "argument", `The name has more than ${maxIdLength} characters.`);
    if (ids.has(id)) report("id", "argument", "Another rule has the same name.");
    ids.add(id);
    checkPrefix(rule, report);
    if (condition.kind === "age" && !isCount(condition.seconds, 1, maxLockSeconds)) {
      report("condition", "malformed", "Write a number of days, such as 30.");
    }
    if (condition.kind === "date" && !isCount(condition.date, 0, maxLockDate)) {
      report("condition", "malformed", "Write a date, such as 2027-01-31.");
    }
  });
}

/** A longer prefix matches no key, and every request to the bucket would read it. */
function checkPrefix({ prefix }: { readonly prefix: string }, report: ReportFlaw): void {
  if (Buffer.byteLength(prefix) <= limits.keyBytes) return;
  report("prefix", "argument", `The prefix has more than ${limits.keyBytes} bytes: no key is that long.`);
}

function isCount(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

function findFlaws<Rule>(
  rules: readonly Rule[],
  max: number,
  check: (rule: Rule, report: ReportFlaw) => void,
): RuleFlaw[] {
  // Too many rules are not checked one by one: anyone can send a million.
  if (rules.length > max) {
    return [{ rule: undefined, field: undefined, kind: "malformed", message: `At most ${max} rules.` }];
  }
  const flaws: RuleFlaw[] = [];
  for (const [index, rule] of rules.entries()) {
    check(rule, (field, kind, message) => flaws.push({ rule: index, field, kind, message }));
  }
  return flaws;
}
