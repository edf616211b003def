// Tests that Node's own classes pass and the classes of scripts fail on purpose, each with the rule that
// wants it. A failure that is not listed here fails the run.

export interface Difference {
  /** Beginning of the test file's path. */
  readonly file: string;
  readonly test: string | RegExp;
  readonly reason: string;
}

export const differences: readonly Difference[] = [];
