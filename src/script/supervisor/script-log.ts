// The latest log lines of scripts for the console, in bounded memory, and the errors with stack
// traces among these lines.

export interface LogLine {
  /** Sequence number across all scripts. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly script: string;
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

export interface ScriptFault {
  readonly time: number;
  readonly script: string;
  readonly message: string;
  /** Lines of the stack trace. */
  readonly stack: readonly string[];
}

export interface ScriptLog {
  write(script: string, text: string, stream: "stdout" | "stderr"): void;
  /** Returns lines after `number`, oldest first; waits for a line if there are none yet. */
  after(number: number, waitMilliseconds: number): Promise<readonly LogLine[]>;
  /** Returns the latest errors, newest first. */
  faults(): readonly ScriptFault[];
  /** Resolves all pending waits. */
  close(): void;
}

export interface ScriptLogBounds {
  readonly lines: number;
  readonly lineLength: number;
  readonly faults: number;
  readonly stackLines: number;
}

const defaultBounds: ScriptLogBounds = { lines: 2000, lineLength: 4096, faults: 50, stackLines: 30 };
/** Maximum number of message lines before a stack trace. */
const messageLines = 10;
const stackLine = /^\s+at /;
const faultHead = /^(Uncaught: |Unhandled rejection: |A promise .*failed: )?[\w$.]*(Error|Exception)\b/;

export function createScriptLog(now: () => number, bounds: ScriptLogBounds = defaultBounds): ScriptLog {
  const lines: LogLine[] = [];
  const faults: ScriptFault[] = [];
  /** Lines since the last stack trace, by script; they may contain the next error's message. */
  const pendingLines = new Map<string, string[]>();
  const openStacks = new Map<string, string[]>();
  const waiters = new Set<() => void>();
  let count = 0;
  let isClosed = false;

  function wake(): void {
    for (const notify of waiters) notify();
  }

  function detectFault(script: string, text: string): void {
    if (!stackLine.test(text)) {
      openStacks.delete(script);
      pendingLines.set(script, [...(pendingLines.get(script) ?? []), text].slice(-messageLines));
      return;
    }
    const stack = openStacks.get(script);
    if (stack !== undefined) {
      if (stack.length < bounds.stackLines) stack.push(text.trim());
      return;
    }
    const preceding = pendingLines.get(script) ?? [];
    pendingLines.delete(script);
    if (preceding.length === 0) return;
    const first = preceding.findLastIndex((line) => faultHead.test(line));
    const message = preceding.slice(first === -1 ? -1 : first).join("\n");
    const newStack = [text.trim()];
    openStacks.set(script, newStack);
    faults.unshift({ time: now(), script, message, stack: newStack });
    faults.length = Math.min(faults.length, bounds.faults);
  }

  return {
    write(script, text, stream) {
      const { lineLength } = bounds;
      const storedText = text.length > lineLength ? `${text.slice(0, lineLength)}…` : text;
      lines.push({ number: ++count, time: now(), script, stream, text: storedText });
      // Trimmed in batches, to avoid copying the list for every line.
      if (lines.length > 2 * bounds.lines) lines.splice(0, lines.length - bounds.lines);
      if (stream === "stderr") detectFault(script, storedText);
      wake();
    },
    async after(number, waitMilliseconds) {
      // A number above the count is from before a server restart: start at the first line.
      const from = number > count ? 0 : Math.max(number, 0);
      if (count === from && !isClosed && waitMilliseconds > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(done, waitMilliseconds);
          function done(): void {
            clearTimeout(timer);
            waiters.delete(done);
            resolve();
          }
          waiters.add(done);
        });
      }
      return lines.slice(-bounds.lines).filter((line) => line.number > from);
    },
    faults: () => faults,
    close() {
      isClosed = true;
      wake();
    },
  };
}
