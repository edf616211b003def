// Options that describe a retention: --mode and --days.
import type { RetentionMode } from "../../model/lock.ts";
import { usageError } from "../framework/command-error.ts";

export function parseMode(text: string): RetentionMode {
  if (text === "governance" || text === "compliance") return text;
  throw usageError(`--mode must be governance or compliance, not "${text}".`);
}

const maxDays = 36_500;

export function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= maxDays) return days;
  throw usageError(`--days must be a whole number from 1 to ${maxDays}, not "${text}".`);
}
