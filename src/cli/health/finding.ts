// What a check of `store doctor` finds.

export type FindingState = "ok" | "warning" | "problem";

export interface Finding {
  /** Short name of what was checked, such as "disk space". */
  readonly check: string;
  readonly state: FindingState;
  readonly what: string;
  /** What to do about a warning or a problem. */
  readonly cure?: string | undefined;
}

export function ok(check: string, what: string): Finding {
  return { check, state: "ok", what };
}

export function warning(check: string, what: string, cure: string): Finding {
  return { check, state: "warning", what, cure };
}

export function problem(check: string, what: string, cure: string): Finding {
  return { check, state: "problem", what, cure };
}
