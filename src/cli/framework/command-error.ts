// The error a command throws: a message, hints on what to do, and the exit code.

export interface CommandErrorOptions {
  /** Advice for the user, one line each. */
  readonly hint?: string | readonly string[] | undefined;
  /** 1: the command failed. 2: wrong usage. */
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

/** Runs `parse` and converts its RangeError to a usage error. */
export function parseOrUsageError<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof RangeError ? usageError(error.message) : error;
  }
}

/** Creates an error for wrong usage, with exit code 2. */
export function usageError(message: string, hint?: string | readonly string[]): CommandError {
  return new CommandError(message, { hint, exitCode: 2 });
}
