// Tests of the history checker with correct, wrong and random histories.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Action,
  findViolation,
  type Operation,
  type Outcome,
  type State,
} from "../../../src/prove/consistency/checker.ts";
import { type Random, seeded } from "../../support/random.ts";

const never = Number.POSITIVE_INFINITY;

function at(begin: number, end: number, action: Action): Operation {
  return { begin, end, action };
}

const write = (value: State): Action => ({ kind: "write", value });
const read = (value: State): Action => ({ kind: "read", value });
const create = (value: string, outcome: Outcome): Action => ({ kind: "create", value, outcome });
const replace = (seen: string, value: string, outcome: Outcome): Action => ({
  kind: "replace",
  seen,
  value,
  outcome,
});

const right: Record<string, Operation[]> = {
  "sequential operations": [
    at(0, 1, write("a")),
    at(2, 3, read("a")),
    at(4, 5, write(null)),
    at(6, 7, read(null)),
  ],
  "a read during a put that sees either value": [
    at(0, 9, write("a")),
    at(1, 2, read(null)),
    at(3, 4, read("a")),
  ],
  "concurrent puts in either order": [at(0, 9, write("a")), at(0, 9, write("b")), at(10, 11, read("a"))],
  "a put with unknown outcome that took effect late": [
    at(0, never, write("a")),
    at(5, 6, read(null)),
    at(7, 8, read("a")),
  ],
  "a put with unknown outcome that never took effect": [
    at(0, never, write("a")),
    at(5, 6, read(null)),
    at(7, 8, read(null)),
  ],
  "a delete with unknown outcome": [
    at(0, 1, write("a")),
    at(2, never, write(null)),
    at(3, 4, read("a")),
    at(5, 6, read(null)),
  ],
  "a refusal caused by a put with unknown outcome": [
    at(0, never, write("a")),
    at(5, 6, create("b", "refused")),
  ],
  "two concurrent creations of which one succeeds": [
    at(0, 9, create("a", "stored")),
    at(0, 9, create("b", "refused")),
  ],
  "conditional replacements that each match the current version": [
    at(0, 1, write("a")),
    at(2, 9, replace("a", "b", "stored")),
    at(2, 9, replace("b", "c", "stored")),
    at(3, 8, replace("a", "d", "refused")),
    at(10, 11, read("c")),
  ],
};

const wrong: Record<string, Operation[]> = {
  "a lost put": [at(0, 1, write("a")), at(2, 3, read(null))],
  "a stale read": [at(0, 1, write("a")), at(2, 3, write("b")), at(4, 5, read("a"))],
  "a read of a value never written": [at(0, 1, read("a"))],
  "a later read that returns an older state": [
    at(0, 9, write("a")),
    at(1, 2, read("a")),
    at(3, 4, read(null)),
  ],
  "a deleted value that reappears": [at(0, 1, write("a")), at(2, 3, write(null)), at(4, 5, read("a"))],
  "two successful creations of one key": [at(0, 9, create("a", "stored")), at(0, 9, create("b", "stored"))],
  "a refused creation of an absent key": [at(0, 1, write(null)), at(2, 3, create("a", "refused"))],
  "two successful replacements of one version": [
    at(0, 1, write("a")),
    at(2, 9, replace("a", "b", "stored")),
    at(2, 9, replace("a", "c", "stored")),
  ],
  "a read of a value before its put began": [at(5, never, write("a")), at(0, 1, read("a"))],
  "a put with unknown outcome that took effect twice": [
    at(0, never, write("a")),
    at(1, 2, read("a")),
    at(3, 4, write("b")),
    at(5, 6, read("a")),
  ],
};

for (const [what, history] of Object.entries(right)) {
  test(`the history checker accepts ${what}`, () => assert.equal(findViolation(history), undefined));
}

for (const [what, history] of Object.entries(wrong)) {
  test(`the history checker rejects ${what}`, () => {
    assert.ok(findViolation(history) !== undefined);
  });
}

/** Returns a valid history: each operation takes effect at an instant in its interval. */
function randomHistory(random: Random, count: number, cutOneOf = 40): Operation[] {
  const open = Array.from({ length: count }, (_, i) => {
    const instant = i * 10;
    const isCut = random.below(cutOneOf) === 0;
    const begin = instant - random.below(60);
    return { instant, begin, end: isCut ? never : instant + random.below(60), isCut };
  });
  let state: State = null;
  const history: Operation[] = [];
  for (const [i, { begin, end, isCut }] of open.entries()) {
    const value = `v${i}`;
    const happens = !isCut || random.below(2) === 0;
    const action = happens ? randomAction(random, state, value) : write(value);
    const isUnknown = isCut && action.kind !== "read";
    if (isCut && !isUnknown) continue;
    if (happens) state = behind(state, action);
    const told = isUnknown && "outcome" in action ? { ...action, outcome: "unknown" as const } : action;
    history.push({ begin, end, action: told });
  }
  return history;
}

function randomAction(random: Random, state: State, value: string): Action {
  switch (random.below(6)) {
    case 0:
      return write(value);
    case 1:
      return write(null);
    case 2:
      return create(value, state === null ? "stored" : "refused");
    case 3: {
      const seen = state !== null && random.below(3) > 0 ? state : "another";
      return replace(seen, value, seen === state ? "stored" : "refused");
    }
    default:
      return read(state);
  }
}

function behind(state: State, action: Action): State {
  if (action.kind === "read") return state;
  return !("outcome" in action) || action.outcome === "stored" ? action.value : state;
}

test("the history checker accepts random valid histories, and rejects them after one read is forged", async () => {
  await seeded(async (random) => {
    for (let i = 0; i < 100; i++) {
      const history = randomHistory(random, 400);
      assert.equal(findViolation(history), undefined);
      const reads = history.filter(({ action }) => action.kind === "read");
      const changed = random.pick(reads);
      const forged = history.map((one) => (one === changed ? { ...one, action: read("forged") } : one));
      assert.ok(findViolation(forged) !== undefined);
    }
  });
});

test("the history checker rejects random histories with a read of a value that was replaced long before", async () => {
  await seeded(async (random) => {
    for (let i = 0; i < 100; i++) {
      const history = randomHistory(random, 400);
      const old = history.find(
        ({ action, end }) => action.kind === "read" && action.value !== null && end < 2000,
      );
      if (old === undefined) continue;
      const late = { begin: 100_000, end: 100_001 };
      const stale = [
        ...history,
        { ...late, action: write("last") },
        { begin: 100_002, end: 100_003, action: old.action },
      ];
      assert.ok(findViolation(stale) !== undefined);
    }
  });
});

test("the search of the history checker stays bounded with many operations of unknown outcome", async () => {
  await seeded(async (random) => {
    for (let i = 0; i < 50; i++) assert.equal(findViolation(randomHistory(random, 200, 8)), undefined);
  });
});
