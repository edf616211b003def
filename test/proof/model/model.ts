// Model tests: random commands, among them faults and the passing of days, run on a store on disk
// and on the engine in memory, through the binding and the S3 API. All answers must be equal.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { Budget, Figures, Proof } from "../proof.ts";
import { advance, ask, audit, both, type Command, type Counts, count, reopen } from "./commands.ts";
import { buildFaultLibrary } from "./fault-library.ts";
import { failSync, failWrite, fillDisk, flipBit, kill } from "./faults.ts";
import type { AnyWanted } from "./resolve.ts";
import { createSubject, type Subject } from "./subject.ts";
import {
  wantedVersionDelete,
  wantedVersionRead,
  wantedVersionSetting,
  wantedVersionWrite,
} from "./versions/wanted.ts";
import { anyKey, wantedDelete, wantedRead, wantedRest, wantedWrite } from "./wanted.ts";
import { createWorld } from "./world.ts";

export const model: Proof = {
  name: "model",
  unit: "commands",
  bar: 1_000_000,
  run: runModel,
};

/** Number of stores tested concurrently: while one store waits for its process, another runs. */
const lanes = 3;
/** One run in this many is rough: the process dies and restarts, which is slow. */
const roughEvery = 12;
/** One run in this many may turn versioning on. */
const versionedEvery = 2;
/** Commands per run. Emptying a store costs about 20 commands; a long log is slow to replay. */
const mostCommands = { steady: 500, rough: 150 } as const;

async function runModel(budget: Budget): Promise<Figures> {
  const tools = mkdtempSync(join(tmpdir(), "store-model-"));
  const library = buildFaultLibrary(tools);
  const counts: Counts = { commands: 0, runs: 0 };
  let nextRun = 0;
  let isOver = false;
  const { stackTraceLimit } = Error;
  // Most errors are expected, and a stack trace costs more than the operation.
  Error.stackTraceLimit = 2;
  const watch = setInterval(() => budget.say(JSON.stringify(counts)), 5000);
  try {
    if (library === undefined)
      tell("failing writes and syncs, kills during a write. This machine has no C compiler.");
    await Promise.all(Array.from({ length: lanes }, lane));
  } finally {
    clearInterval(watch);
    Error.stackTraceLimit = stackTraceLimit;
    rmSync(tools, { recursive: true, force: true });
  }
  return counts;

  async function lane(): Promise<void> {
    const steady = keepSubject(library);
    const rough = keepSubject(library);
    try {
      while (!isOver && budget.more(counts.commands!)) {
        // Each run has its own seed. If this seed is passed as --seed, the run is repeated first.
        const seed = (budget.seed + nextRun++) % 2 ** 31;
        const isRough = seed % roughEvery === 0;
        const isVersioned = (seed + Math.floor(seed / roughEvery)) % versionedEvery === 0;
        count(counts, isVersioned ? "runs with versions" : "runs without versions");
        const subjects = isRough ? rough : steady;
        await runCommands({ seed, isRough, isVersioned, subjects, counts, say: budget.say });
      }
    } finally {
      isOver = true;
      await steady.drop();
      await rough.drop();
    }
  }
}

function tell(what: string): void {
  console.error(`NOT TESTED: ${what}`);
}

interface Subjects {
  take(): Promise<Subject>;
  drop(): Promise<void>;
}

/** Provides one store, which is emptied and reused until a run on it fails. */
function keepSubject(library: string | undefined): Subjects {
  let subject: Subject | undefined;
  return {
    async take() {
      if (subject !== undefined) return subject;
      subject = await createSubject(library);
      if (!subject.disk.canFill) tell("a full disk. This machine does not permit mounting a tmpfs.");
      return subject;
    },
    async drop() {
      const dropped = subject;
      subject = undefined;
      await dropped?.remove();
    },
  };
}

interface Run {
  readonly seed: number;
  readonly isRough: boolean;
  readonly isVersioned: boolean;
  readonly subjects: Subjects;
  readonly counts: Counts;
  say(line: string): void;
}

async function runCommands(run: Run): Promise<void> {
  const { seed, isRough, isVersioned, subjects, counts } = run;
  /** What failed first. Later failures, of shorter runs, may have other reasons. */
  let first: unknown;
  const property = fc.asyncProperty(
    fc.commands([(isRough ? roughCommand : steadyCommand)(draws(isVersioned), counts)], {
      maxCommands: mostCommands[isRough ? "rough" : "steady"],
      size: "max",
    }),
    async (commands) => {
      const subject = await subjects.take();
      const world = await createWorld(String(seed));
      try {
        await fc.asyncModelRun(() => ({ model: world, real: subject }), commands);
        await both(world, subject, { do: "snapshot" });
        if (isRough) await audit(world, subject);
        await subject.ask({ do: "empty", now: world.now });
        if (first === undefined) counts.commands! += [...commands].length;
      } catch (error) {
        if (first === undefined) run.say(`seed ${seed} failed, looking for a shorter run: ${String(error)}`);
        first ??= error;
        throw error;
      } finally {
        // A shorter run draws the same IDs, which a store never sees twice.
        if (first !== undefined) await subjects.drop();
        await world.close();
      }
    },
  );
  const result = await fc.check(property, { seed, numRuns: 1, unbiased: true, endOnFailure: false });
  count(counts, "runs");
  if (!result.failed) return;
  const repeat = `with --seed ${seed} alone: ${fc.defaultReportMessage(result)}`;
  throw new Error(`${repeat}\n${String(result.errorInstance)}\nIt failed first with: ${String(first)}`, {
    cause: result.errorInstance,
  });
}

const day = 24 * 3600 * 1000;

/** The commands of a run by their kind. */
interface Draws {
  readonly read: fc.Arbitrary<AnyWanted>;
  readonly write: fc.Arbitrary<AnyWanted>;
  readonly delete: fc.Arbitrary<AnyWanted>;
  readonly rest: fc.Arbitrary<AnyWanted>;
  readonly restWeight: number;
  /** Which version a flipped bit hits. */
  readonly back: fc.Arbitrary<number | null>;
}

function draws(isVersioned: boolean): Draws {
  const plain = { read: wantedRead, write: wantedWrite, delete: wantedDelete, rest: wantedRest };
  if (!isVersioned) return { ...plain, restWeight: 40, back: fc.constant(null) };
  const half = (one: fc.Arbitrary<AnyWanted>, other: fc.Arbitrary<AnyWanted>) => fc.oneof(one, other);
  return {
    read: half(wantedRead, wantedVersionRead),
    write: half(wantedWrite, wantedVersionWrite),
    delete: half(wantedDelete, wantedVersionDelete),
    rest: fc.oneof({ weight: 1, arbitrary: wantedRest }, { weight: 2, arbitrary: wantedVersionSetting }),
    restWeight: 100,
    back: fc.nat(12),
  };
}

function plainCommands({ read, write, rest, restWeight }: Draws) {
  return [
    { weight: 380, arbitrary: write.map(ask) },
    { weight: 500, arbitrary: read.map(ask) },
    { weight: restWeight, arbitrary: rest.map(ask) },
    { weight: 20, arbitrary: fc.nat(day).map(advance) },
    { weight: 8, arbitrary: fc.nat(8 * day).map(advance) },
  ];
}

function steadyCommand(drawn: Draws, counts: Counts): fc.Arbitrary<Command> {
  const flip = fc.record({
    flip: fc.record({
      key: anyKey,
      of: fc.constantFrom<("body" | "record")[]>("body", "body", "record"),
      back: drawn.back,
      part: fc.nat(3),
      offset: fc.nat(6000),
      bit: fc.nat(7),
    }),
    reads: fc.array(drawn.read, { minLength: 1, maxLength: 4 }),
  });
  const whenFull = fc.array(fc.oneof(drawn.delete, drawn.write, drawn.read), { minLength: 4, maxLength: 10 });
  return fc.oneof(
    ...plainCommands(drawn),
    { weight: 10, arbitrary: flip.map((wanted) => flipBit(wanted, counts)) },
    { weight: 2, arbitrary: whenFull.map((wanted) => fillDisk(wanted, counts)) },
  );
}

function roughCommand(drawn: Draws, counts: Counts): fc.Arbitrary<Command> {
  const failure = fc.record({
    writes: fc.array(drawn.write, { minLength: 1, maxLength: 4 }),
    step: fc.integer({ min: 1, max: 8 }),
    by: fc.constantFrom<("close" | "kill")[]>("close", "close", "close", "kill"),
  });
  const death = fc.record({
    writes: fc.array(drawn.write, { minLength: 1, maxLength: 3 }),
    step: fc.integer({ min: 1, max: 20 }),
    sweeps: fc.boolean(),
    again: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 12 })),
  });
  return fc.oneof(
    ...plainCommands(drawn),
    { weight: 15, arbitrary: fc.constant(reopen) },
    { weight: 15, arbitrary: failure.map((wanted) => failWrite(wanted, counts)) },
    { weight: 15, arbitrary: failure.map((wanted) => failSync(wanted, counts)) },
    { weight: 10, arbitrary: death.map((wanted) => kill(wanted, counts)) },
  );
}
