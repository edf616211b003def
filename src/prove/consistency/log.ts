// The log of operations of one process, kept in a file that survives a kill: a write is logged
// before it begins and again when its outcome is known.
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Action, Operation, Outcome, State } from "./checker.ts";

/** One page of a list: the state of each covered key at one instant. */
export interface PageRead {
  readonly begin: number;
  readonly end: number;
  readonly seen: Readonly<Record<string, State>>;
}

type Line =
  | ["begin", id: number, begin: number, keys: string[], action: Action]
  | ["end", id: number, end: number, outcome: Outcome]
  | ["read", begin: number, end: number, key: string, value: State]
  | ["page", begin: number, end: number, seen: Record<string, State>];

export interface Log {
  /** Logs the start of a write and returns the ID for `end`. */
  begin(begin: number, keys: readonly string[], action: Action): number;
  end(id: number, end: number, outcome: Outcome): void;
  read(begin: number, end: number, key: string, value: State): void;
  page(begin: number, end: number, seen: Record<string, State>): void;
  close(): void;
}

export function openLog(path: string): Log {
  const descriptor = openSync(path, "a");
  let next = 0;
  let kept = "";
  function note(line: Line, isUrgent: boolean): void {
    kept += `${JSON.stringify(line)}\n`;
    // Only reads are buffered: a lost read does not affect the history, but a lost write would.
    if (!isUrgent && kept.length < 1000) return;
    writeSync(descriptor, kept);
    kept = "";
  }
  return {
    begin(begin, keys, action) {
      note(["begin", next, begin, [...keys], action], true);
      return next++;
    },
    end: (id, end, outcome) => note(["end", id, end, outcome], true),
    read: (begin, end, key, value) => note(["read", begin, end, key, value], false),
    page: (begin, end, seen) => note(["page", begin, end, seen], false),
    close() {
      if (kept !== "") writeSync(descriptor, kept);
      closeSync(descriptor);
    },
  };
}

export interface History {
  /** Operations per key. An entry of a page counts as a read of its key. */
  readonly operations: ReadonlyMap<string, readonly Operation[]>;
  readonly pages: readonly PageRead[];
  /** Number of operations the clients performed; a list counts once. */
  readonly count: number;
  readonly unknown: number;
}

/** Merges the logs of all processes of a round. */
export function readLogs(paths: readonly string[]): History {
  const operations = new Map<string, Operation[]>();
  const pages: PageRead[] = [];
  let count = 0;
  let unknown = 0;
  const add = (key: string, operation: Operation) => {
    const found = operations.get(key);
    if (found === undefined) operations.set(key, [operation]);
    else found.push(operation);
  };

  for (const [process, path] of paths.entries()) {
    const by = `process ${process}`;
    const open = new Map<number, Extract<Line, ["begin", ...unknown[]]>>();
    for (const line of linesOf(path)) {
      if (line[0] === "read") {
        const [, begin, end, key, value] = line;
        add(key, { begin, end, action: { kind: "read", value }, by });
      } else if (line[0] === "page") {
        const [, begin, end, seen] = line;
        pages.push({ begin, end, seen });
        for (const [key, value] of Object.entries(seen)) {
          add(key, { begin, end, action: { kind: "read", value }, by: `a list of ${by}` });
        }
      } else if (line[0] === "begin") open.set(line[1], line);
      else {
        const [, id, end, outcome] = line;
        const [, , begin, keys, action] = open.get(id)!;
        open.delete(id);
        const isKnown = outcome !== "unknown";
        if (!isKnown) unknown++;
        for (const key of keys) {
          add(key, { begin, end: isKnown ? end : never, action: ended(action, outcome), by });
        }
      }
      if (line[0] !== "begin") count++;
    }
    // Writes without an end were cut off by the kill.
    for (const [, , begin, keys, action] of open.values()) {
      unknown++;
      for (const key of keys) add(key, { begin, end: never, action: ended(action, "unknown"), by });
    }
  }
  return { operations, pages, count, unknown };
}

const never = Number.POSITIVE_INFINITY;

function ended(action: Action, outcome: Outcome): Action {
  return "outcome" in action ? { ...action, outcome } : action;
}

function linesOf(path: string): Line[] {
  const text = readFileSync(path, "utf8");
  // An incomplete last line was cut off by the kill.
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
