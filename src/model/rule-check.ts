// What is wrong with rules that somebody wrote for a bucket: every flaw with the rule and the field it is in, so that
// a face can refuse the first and an editor can show them all.
import type { CorsRule } from "./cors.ts";
import { dayMilliseconds, type LifecycleRule, type When } from "./lifecycle.ts";
import { isSendable } from "./metadata.ts";

export interface RuleFlaw {
  /** Which rule, counted from 0; undefined for all of them together. */
  readonly rule: number | undefined;
  readonly field: string | undefined;
  /** How S3 would call it: no such document at all, a wrong value, or one that is not done. */
  readonly kind: "malformed" | "argument" | "request";
  readonly message: string;
}

type Tell = (field: string | undefined, kind: RuleFlaw["kind"], message: string) => void;

export const mostLifecycleRules = 1000;
export const mostCorsRules = 100;
export const corsMethods = ["GET", "PUT", "POST", "DELETE", "HEAD"] as const;
const longestId = 255;
const mostNumber = 999_999_999;

export function lifecycleFlaws(rules: readonly LifecycleRule[]): RuleFlaw[] {
  return flawsOf(rules, mostLifecycleRules, (rule, tell, index) => {
    const { id, expire, transition, abortUploadsAfter, largerThan, smallerThan } = rule;
    if (id.length > longestId) tell("id", "argument", "ID length should not exceed allowed limit of 255");
    if (rules.slice(0, index).some((other) => other.id === id)) {
      tell("id", "argument", "Rule ID must be unique. Found same ID for more than one rule");
    }
    for (const [field, size] of Object.entries({ largerThan, smallerThan })) {
      if (size !== undefined && !isCount(size, 0, Number.MAX_SAFE_INTEGER)) {
        tell(field, "malformed", "Write a size in bytes, as a whole number.");
      }
    }
    if (largerThan !== undefined && smallerThan !== undefined && smallerThan <= largerThan + 1) {
      tell("smallerThan", "request", "No object is larger than the one size and smaller than the other.");
    }
    if (expire !== undefined) checkWhen("expire", expire, tell);
    if (transition !== undefined) checkWhen("transition", transition, tell);
    if (abortUploadsAfter !== undefined) checkDays("abortUploadsAfter", abortUploadsAfter, tell);
    if ((expire ?? transition ?? abortUploadsAfter) === undefined) {
      tell(undefined, "request", "At least one action needs to be specified in a rule");
    }
  });
}

function checkWhen(field: string, when: When, tell: Tell): void {
  if ("days" in when) checkDays(field, when.days, tell);
  else if (!Number.isSafeInteger(when.date)) tell(field, "malformed", "Write a date, such as 2027-01-31.");
  else if (when.date % dayMilliseconds !== 0) tell(field, "argument", "'Date' must be at midnight GMT");
}

function checkDays(field: string, days: number, tell: Tell): void {
  if (!isCount(days, Number.MIN_SAFE_INTEGER, mostNumber)) {
    tell(field, "malformed", "Write a whole number of days.");
  } else if (days <= 0) tell(field, "argument", "'Days' must be a positive integer");
}

export function corsFlaws(rules: readonly CorsRule[]): RuleFlaw[] {
  return flawsOf(rules, mostCorsRules, (rule, tell) => {
    const { origins, methods, headers, exposed, maxAgeSeconds } = rule;
    if (methods.length === 0) tell("methods", "malformed", "Choose at least one method.");
    if (origins.length === 0) tell("origins", "malformed", "Name at least one origin, or * for every one.");
    for (const [field, texts] of Object.entries({ origins, headers, exposed })) {
      if (!texts.every(isSendable)) {
        tell(field, "malformed", "There is a control character in it, which no header can carry.");
      }
    }
    const unknown = methods.find((method) => !corsMethods.some((known) => known === method));
    if (unknown !== undefined) {
      const message = `Found unsupported HTTP method in CORS config. Unsupported method is ${unknown}`;
      tell("methods", "request", message);
    }
    for (const [field, texts] of Object.entries({ origins, headers })) {
      const crowded = texts.find((text) => text.split("*").length > 2);
      if (crowded !== undefined) {
        tell(field, "request", `"${crowded}" can not have more than one wildcard.`);
      }
    }
    if (maxAgeSeconds !== undefined && !isCount(maxAgeSeconds, 0, mostNumber)) {
      tell("maxAgeSeconds", "malformed", "Write a whole number of seconds.");
    }
  });
}

function isCount(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}

function flawsOf<Rule>(
  rules: readonly Rule[],
  most: number,
  check: (rule: Rule, tell: Tell, index: number) => void,
): RuleFlaw[] {
  const flaws: RuleFlaw[] = [];
  if (rules.length > most) {
    flaws.push({ rule: undefined, field: undefined, kind: "malformed", message: `At most ${most} rules.` });
  }
  for (const [index, rule] of rules.entries()) {
    check(rule, (field, kind, message) => flaws.push({ rule: index, field, kind, message }), index);
  }
  return flaws;
}
