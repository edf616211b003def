// The process that probes every port of a server under load, with its own clock and connections.
import { request } from "node:http";
import { answerCalls } from "../../support/called-process.ts";

export interface ProbedPlace {
  readonly name: string;
  readonly port: number;
  readonly path: string;
}

export interface Probed {
  readonly name: string;
  readonly milliseconds: number;
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  readonly error?: string;
}

export interface Probes {
  readonly probed: readonly Probed[];
  /** Delay of this process's own timer: the share of the answer time due to a busy machine. */
  readonly lateMilliseconds: number;
}

const patience = 15_000;
const tick = 20;

let watching:
  | { readonly places: readonly ProbedPlace[]; worst: Map<string, Probed>; isOver: boolean }
  | undefined;
let watchEnded: Promise<void> | undefined;

function probe({ name, port, path }: ProbedPlace): Promise<Probed> {
  const began = performance.now();
  const milliseconds = () => Math.round(performance.now() - began);
  return new Promise((resolve) => {
    const fail = (error: string) => resolve({ name, milliseconds: milliseconds(), status: 0, error });
    const asked = request({ host: "127.0.0.1", port, path, agent: false }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve({ name, milliseconds: milliseconds(), status: answer.statusCode! }));
      answer.on("error", (error) => fail(error.message));
    });
    asked.setTimeout(patience, () => asked.destroy(new Error(`no answer within ${patience} ms`)));
    asked.on("error", (error) => fail(error.message));
    asked.end();
  });
}

async function probeAll(places: readonly ProbedPlace[]): Promise<Probes> {
  let lateMilliseconds = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    lateMilliseconds = Math.max(lateMilliseconds, now - last - tick);
    last = now;
  }, tick);
  const probed = await Promise.all(places.map(probe));
  clearInterval(timer);
  return { probed, lateMilliseconds: Math.round(lateMilliseconds) };
}

const calls = {
  now: (places: readonly ProbedPlace[]) => probeAll(places),
  /** Probes repeatedly until `stopWatching`, and keeps the slowest answer of each place. */
  async watch(places: readonly ProbedPlace[]): Promise<void> {
    const watched = { places, worst: new Map<string, Probed>(), isOver: false };
    watching = watched;
    watchEnded = (async () => {
      while (!watched.isOver) {
        for (const one of (await probeAll(places)).probed) {
          const known = watched.worst.get(one.name);
          const isWorse = known === undefined || (known.status !== 0 && one.status === 0);
          if (isWorse || (one.milliseconds > known.milliseconds && known.status !== 0)) {
            watched.worst.set(one.name, one);
          }
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    })();
  },
  async stopWatching(_: null): Promise<Probed[]> {
    if (watching === undefined) return [];
    watching.isOver = true;
    await watchEnded;
    return [...watching.worst.values()];
  },
};

export type ProbeCalls = typeof calls;

answerCalls(calls);
