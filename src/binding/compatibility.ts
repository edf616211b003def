// Selects behaviour by the compatibility date and flags of a script (spec 4, list rule 3; spec 9).

export interface Compatibility {
  /** Whether list respects `include`. If false, list returns all metadata. */
  readonly honorInclude: boolean;
  /** Whether delimited prefixes end with the delimiter, like the common prefixes of S3. */
  readonly keepDelimiter: boolean;
}

export const compatibilityFlags = [
  "store_list_honor_include",
  "store_delimited_prefixes_keep_delimiter",
] as const;

export function isCompatibilityFlag(flag: string): boolean {
  return compatibilityFlags.some((name) => name === flag);
}

const honorIncludeSince = "2022-08-04";

/** Without a date, the newest behaviour applies. */
export function parseCompatibility(date: string | undefined, flags: readonly string[] = []): Compatibility {
  if (date !== undefined && !isCalendarDate(date)) {
    throw new TypeError(`The compatibility date must be a date like 2026-11-01: "${date}"`);
  }
  for (const flag of flags) {
    if (!isCompatibilityFlag(flag)) {
      throw new TypeError(
        `Unknown compatibility flag "${flag}": known are ${compatibilityFlags.join(" and ")}.`,
      );
    }
  }
  return {
    honorInclude:
      date === undefined || date >= honorIncludeSince || flags.includes("store_list_honor_include"),
    keepDelimiter: flags.includes("store_delimited_prefixes_keep_delimiter"),
  };
}

function isCalendarDate(date: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return false;
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}
