// Runs one batch of inputs on one target: each must end in time, with a value or a documented error
// that has a clear message. The batch's seed determines all inputs.
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { createRandom } from "../../support/random.ts";
import { createMutator } from "./mutate.ts";
import { isClear, type Runner, type Target, Violation } from "./target.ts";

export interface Batch {
  readonly seed: number;
  readonly inputs: number;
}

export interface BatchReport {
  readonly inputs: number;
  /** Number of inputs per kind of outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Duration of the slowest input, measured again alone if it was above the limit. */
  readonly slowestMilliseconds: number;
}

/** Time limit for one input. */
const mostMilliseconds = 50;
/** A slow input is measured again up to this many times, in case the machine was busy. */
const secondLooks = 10;
const mostKept = 200;

/** Called before each input, so that the watching thread can report an input that never ends. */
export type Began = (index: number, input: string) => void;

export async function runBatch(target: Target, batch: Batch, began: Began = () => {}): Promise<BatchReport> {
  const random = createRandom(batch.seed);
  const mutate = createMutator(target, random);
  const corpus = [...target.samples];
  const outcomes: Record<string, number> = {};
  let slowest = 0;
  let current = "";
  let rejected: unknown;
  const noteRejection = (reason: unknown) => {
    rejected = reason;
  };
  process.on("unhandledRejection", noteRejection);
  const traces = Error.stackTraceLimit;
  // Most inputs end in an error, and collecting stack traces would dominate the run time.
  Error.stackTraceLimit = 0;
  const runner = await target.open();
  try {
    for (let index = 0; index < batch.inputs; index++) {
      const input = index < target.samples.length ? target.samples[index]! : mutate(corpus);
      current = input;
      began(index, input);
      const start = performance.now();
      const judged = judge(runner, input);
      const outcome = typeof judged === "string" ? judged : await judged;
      const milliseconds = performance.now() - start;
      if (rejected !== undefined) throw new Violation(`an unhandled rejection: ${inspect(rejected)}`);
      if (milliseconds > mostMilliseconds) slowest = Math.max(slowest, await secondLook(runner, input));
      else slowest = Math.max(slowest, milliseconds);
      const seen = outcomes[outcome];
      outcomes[outcome] = (seen ?? 0) + 1;
      // An input with a new kind of outcome joins the corpus for further mutations.
      if (seen === undefined && corpus.length < mostKept && input.length < 4096) corpus.push(input);
    }
  } catch (error) {
    Error.stackTraceLimit = traces;
    // Run the input again to get the stack trace.
    if (error instanceof Violation) await judge(runner, current);
    throw error;
  } finally {
    Error.stackTraceLimit = traces;
    process.off("unhandledRejection", noteRejection);
    await runner.close?.();
  }
  return { inputs: batch.inputs, outcomes, slowestMilliseconds: slowest };
}

/** Returns the outcome; throws a Violation if the outcome is not documented. */
function judge(runner: Runner, input: string): string | Promise<string> {
  try {
    const outcome = runner.run(input);
    return typeof outcome === "string" ? outcome : outcome.catch((error) => judged(runner, input, error));
  } catch (error) {
    return judged(runner, input, error);
  }
}

function judged(runner: Runner, input: string, error: unknown): string {
  if (error instanceof Violation) throw error;
  const outcome = runner.outcomeOf(error);
  if (outcome === undefined) throw new Violation(`ended in ${inspect(error, { depth: 1 })}`);
  const message = error instanceof Error ? error.message : String(error);
  if (runner.passes?.test(message) !== true && !isClear(message, input))
    throw new Violation(`has an unclear error message: ${message.slice(0, 1000)}`);
  return outcome;
}

/** Returns the CPU time of this thread: time spent on other processes does not count. */
function workedMilliseconds(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

async function secondLook(runner: Runner, input: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < secondLooks; look++) {
    const [start, worked] = [performance.now(), workedMilliseconds()];
    await judge(runner, input);
    const took = workedMilliseconds() - worked;
    least = Math.min(least, performance.now() - start, Number.isNaN(took) ? least : took);
    if (least <= mostMilliseconds) return least;
  }
  throw new Violation(`takes ${Math.round(least)} ms`);
}
