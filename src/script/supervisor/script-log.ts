// The last of what scripts have written, in memory and within bounds, for whoever looks on; and the faults among it,
// each with its stack.

export interface LogLine {
  /** Counted up over all scripts. */
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
  /** Lines of the script's own sources. */
  readonly stack: readonly string[];
}

export interface ScriptLog {
  write(script: string, text: string, stream: "stdout" | "stderr"): void;
  /** Those behind the number, the oldest first: at once if there are any, else when one comes or the wait is over. */
  after(number: number, waitMilliseconds: number): Promise<readonly LogLine[]>;
  /** The newest first. */
  faults(): readonly ScriptFault[];
  /** Nobody waits any more. */
  close(): void;
}

export interface ScriptLogBounds {
  readonly lines: number;
  readonly lineLength: number;
  readonly faults: number;
  readonly stackLines: number;
}

const defaultBounds: ScriptLogBounds = { lines: 2000, lineLength: 4096, faults: 50, stackLines: 30 };
/** How many lines a message may have in front of its stack. */
const messageLines = 10;
const stackLine = /^\s+at /;
const faultHead = /^(Uncaught: |Unhandled rejection: |A promise .*failed: )?[\w$.]*(Error|Exception)\b/;

export function createScriptLog(now: () => number, bounds: ScriptLogBounds = defaultBounds): ScriptLog {
  const lines: LogLine[] = [];
  const faults: ScriptFault[] = [];
  /** Of each script: what it wrote since its last stack, and that stack while it goes on. */
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
      // Now and then, so that a line costs no copy of all others.
      if (lines.length > 2 * bounds.lines) lines.splice(0, lines.length - bounds.lines);
      if (stream === "stderr") detectFault(script, storedText);
      wake();
    },
    async after(number, waitMilliseconds) {
      // Whoever knows of more has followed a server before this one.
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
