// Controls the Store processes of the fault runs: starts the load, kills, freezes and replaces
// processes, and reads their counts.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Random } from "../support/random.ts";
import type { FromLoad, LoadCounts, LoadRound, LoadTask, ToLoad } from "./load-process.ts";
import { eventually, Hopeless } from "./sandbox.ts";

export interface Loads {
  readonly size: number;
  /** Starts the load of all processes on the keys of the round. */
  begin(round: RoundPlan): void;
  /** Returns this round's counts of the process at `index`, without those of a replaced process. */
  counts(index: number): LoadCounts;
  /** Resolves when each process got this many further writes acknowledged. */
  waitForWrites(writes: number, only?: readonly number[]): Promise<void>;
  /** Waits until a condition on the counts holds. */
  until(what: string, holds: () => boolean): Promise<void>;
  signal(index: number, signal: NodeJS.Signals): void;
  /** Kills a process and starts a new process with the same keys. */
  replace(index: number): Promise<void>;
  /** Waits for the operations in flight; returns the logs and counts of all processes. */
  stop(): Promise<{ logs: readonly string[]; counts: readonly LoadCounts[] }>;
  /** Runs a sweep in each process. */
  sweep(): Promise<void>;
  end(): Promise<void>;
}

export interface RoundPlan {
  readonly logs: string;
  readonly round: string;
  readonly random: Random;
  readonly prefix: string;
  readonly keys: readonly string[];
  readonly pace: number;
}

const program = fileURLToPath(new URL("./load-process.js", import.meta.url));
const nothing: LoadCounts = { writes: 0, refusals: 0, longestRefusal: 0, lastRefusal: "" };
/** Timeout in milliseconds, far longer than any fault may take. */
const patience = 90_000;

interface Load {
  readonly child: ChildProcess;
  counts: LoadCounts;
  state: "ready" | "working" | "done" | "sweeping";
  /** Why the process ended, unless it was killed. */
  failure?: string;
  isKilled: boolean;
}

export async function startLoads(tasks: readonly LoadTask[]): Promise<Loads> {
  const loads: Load[] = [];
  let plan: RoundPlan | undefined;
  let logs: string[] = [];
  let past: LoadCounts[] = [];

  async function start(index: number): Promise<void> {
    const child = fork(program, [JSON.stringify(tasks[index])], {
      stdio: ["ignore", "inherit", "pipe", "ipc"],
    });
    const load: Load = { child, counts: nothing, state: "ready", isKilled: false };
    loads[index] = load;
    let complaints = "";
    child.stderr!.on("data", (piece: Buffer) => {
      complaints = (complaints + piece.toString()).slice(-4000);
    });
    child.on("message", (message: FromLoad) => {
      if (message.said === "swept") load.state = "ready";
      if (!("counts" in message)) return;
      load.counts = message.counts;
      if (message.said === "done") load.state = "done";
    });
    child.once("exit", (code, signal) => {
      if (!load.isKilled)
        load.failure = `A Store process ended by itself with ${code ?? signal}: ${complaints}`;
    });
    const [said] = (await Promise.race([once(child, "message"), once(child, "exit")])) as [unknown];
    if (typeof said !== "object")
      throw new Error(`A Store process did not start: ${String(said)} ${complaints}`);
  }

  function send(index: number, message: ToLoad): void {
    loads[index]!.child.send(message);
  }
  function work(index: number): void {
    const { random, prefix, keys, pace, round } = plan!;
    const name = `${round}.${index}.${logs.length}`;
    const log = join(plan!.logs, name);
    logs.push(log);
    const task: LoadRound = { log, seed: random.below(2 ** 31), name, prefix, keys, pace };
    loads[index]!.state = "working";
    loads[index]!.counts = nothing;
    send(index, { say: "run", round: task });
  }
  function assertNoneFailed(): void {
    for (const { failure } of loads) if (failure !== undefined) throw new Hopeless(failure);
  }
  async function kill(load: Load): Promise<void> {
    load.isKilled = true;
    if (load.child.exitCode !== null || load.child.signalCode !== null) return;
    const exited = once(load.child, "exit");
    load.child.kill("SIGKILL");
    await exited;
  }
  const waitFor = (what: string, holds: () => boolean) =>
    eventually(
      what,
      () => {
        assertNoneFailed();
        return holds();
      },
      patience,
    );

  try {
    await Promise.all(tasks.map((_, i) => start(i)));
  } catch (error) {
    await Promise.all(loads.map(kill));
    throw error;
  }
  return {
    size: tasks.length,
    begin(round) {
      plan = round;
      logs = [];
      past = [];
      for (const i of loads.keys()) work(i);
    },
    counts: (index) => loads[index]!.counts,
    async waitForWrites(writes, only = [...loads.keys()]) {
      const before = only.map((i) => loads[i]!.counts.writes);
      await waitFor(`${writes} more acknowledged writes of each Store process`, () =>
        only.every((i, n) => loads[i]!.counts.writes >= before[n]! + writes),
      );
    },
    until: waitFor,
    signal: (index, signal) => void loads[index]!.child.kill(signal),
    async replace(index) {
      past.push(loads[index]!.counts);
      await kill(loads[index]!);
      await start(index);
      work(index);
    },
    async stop() {
      for (const i of loads.keys()) send(i, { say: "stop" });
      await waitFor("the clients finish their operations", () =>
        loads.every(({ state }) => state === "done"),
      );
      return { logs, counts: [...past, ...loads.map(({ counts }) => counts)] };
    },
    async sweep() {
      for (const [i, load] of loads.entries()) {
        load.state = "sweeping";
        send(i, { say: "sweep" });
      }
      await waitFor("the Store processes finish their sweep", () =>
        loads.every(({ state }) => state === "ready"),
      );
    },
    async end() {
      await Promise.all(loads.map(kill));
    },
  };
}
