// Limits what the evaluation of policies costs a request, because a policy, which one person writes,
// is compared with texts that another one sends.

/** The budget of a request. A unit is about the comparison of one character. */
export interface Work {
  /** Throws WorkExceeded if the budget is used up. */
  spend(units: number): void;
  /** Begins a decision, which has a limit of its own. */
  begin(): void;
  /** Units that all decisions have used. */
  spent(): number;
}

/** A policy of 20 KiB compared with texts of usual length takes a quarter of it. */
export const maxDecisionUnits = 1_000_000;
/** Enough for 1,000 keys with a policy of 1,000 resources. */
export const maxRequestUnits = 8_000_000;

/** A value of a request that is longer, such as a header, is not compared. */
export const maxValueLength = 8192;

export class WorkExceeded extends Error {
  override readonly name = "WorkExceeded";
}

export function createWork(): Work {
  let spent = 0;
  let limit = maxDecisionUnits;
  return {
    spend(units) {
      spent += units;
      if (spent > limit) throw new WorkExceeded();
    },
    begin() {
      limit = Math.min(spent + maxDecisionUnits, maxRequestUnits);
    },
    spent: () => spent,
  };
}

/** For texts that the store itself chose, such as the names of actions. */
export const freeWork: Work = { spend: () => {}, begin: () => {}, spent: () => 0 };
