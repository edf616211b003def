// What a command throws when it cannot go on: words for a person, what to do about it, and the exit code.

export interface CommandErrorOptions {
  /** What to do about it; a line each. */
  readonly hint?: string | readonly string[] | undefined;
  /** 1: it failed. 2: it was called wrongly. */
  readonly exitCode?: 1 | 2;
  readonly cause?: unknown;
}

export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly hints: readonly string[];
  readonly exitCode: 1 | 2;

  constructor(message: string, { hint = [], exitCode = 1, cause }: CommandErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.hints = typeof hint === "string" ? [hint] : hint;
    this.exitCode = exitCode;
  }
}

/** Called wrongly: exit code 2. */
export function usageError(message: string, hint?: string | readonly string[]): CommandError {
  return new CommandError(message, { hint, exitCode: 2 });
}
