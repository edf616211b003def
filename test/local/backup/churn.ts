// Starts processes that write during a backup, and checks the contents of the backup.
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openStore, type Store, type StoreBucket } from "../../../src/index.ts";
import { openEngine } from "../../../src/open.ts";
import { assertBytes } from "../../support/bytes.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import type { ChurnTask } from "./churn-writer.ts";
import { assertOneInstant, expectedBytes, keysPerLane, type Reached } from "./lanes.ts";

export type Progress = ReadonlyMap<string, Reached>;

export interface Churn {
  /** Returns the progress of every lane, including lanes of killed processes. */
  progress(): Promise<Progress>;
  /** Kills one of the processes and starts a new one with new lanes. */
  replaceOne(which: number): Promise<void>;
  end(): Promise<void>;
}

export const buckets = ["first", "second"];

/** Calls the function while this number of processes writes, then ends the processes. */
export async function whileWriting(
  directory: string,
  processes: number,
  work: (churn: Churn) => Promise<void>,
): Promise<void> {
  const store = await openStore(directory);
  for (const name of buckets) await store.createBucket(name);
  await store.close();
  const churn = await startChurn(directory, processes);
  try {
    // Wait until every lane has written to all its keys.
    for (let all: Reached[] = []; all.length === 0 || all.some(isFresh); )
      all = [...(await churn.progress()).values()];
    await work(churn);
  } finally {
    await churn.end();
  }
}

function isFresh({ acknowledged }: Reached): boolean {
  return acknowledged < keysPerLane;
}

async function startChurn(directory: string, processes: number): Promise<Churn> {
  let started = 0;
  const finished = new Map<string, Reached>();
  const writers = await Promise.all(Array.from({ length: processes }, startNext));

  function startNext(): Promise<Writer> {
    const number = started++;
    const lanes = [0, 1, 2, 3].map((i) => [buckets[i % buckets.length]!, `lane ${number}.${i}`] as const);
    return startWriter({ directory, lanes, passing: `passing-${number}` });
  }

  return {
    async progress() {
      const all = new Map(finished);
      for (const writer of writers) for (const [lane, reached] of await ask(writer)) all.set(lane, reached);
      return all;
    },
    async replaceOne(which) {
      const writer = writers[which % processes]!;
      // The process may write until it is killed; those writes may be stored or not.
      for (const [lane, { acknowledged }] of await ask(writer))
        finished.set(lane, { acknowledged, begun: acknowledged + lastMoment });
      await kill(writer);
      writers[which % processes] = await startNext();
    },
    end: async () => void (await Promise.all(writers.map(kill))),
  };
}

/** More writes than a lane can do between its last reply and the kill. */
const lastMoment = 2000;

interface Writer {
  readonly child: ChildProcess;
  /** Rejects when the process ends by itself. */
  readonly ended: Promise<never>;
}

async function startWriter(task: ChurnTask): Promise<Writer> {
  const program = fileURLToPath(new URL("./churn-writer.js", import.meta.url));
  const child = fork(program, [JSON.stringify(task)]);
  const over = ended(child);
  // Prevents an unhandled rejection; the next call reports the error.
  over.catch(() => {});
  await Promise.race([once(child, "message"), over]);
  return { child, ended: over };
}

async function ask(writer: Writer): Promise<[string, Reached][]> {
  const answer = new Promise((resolve) => writer.child.once("message", resolve));
  if (writer.child.connected) writer.child.send("how far?");
  return (await Promise.race([answer, writer.ended])) as [string, Reached][];
}

async function ended(child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, "exit");
  throw new Error(`A writing process ended by itself with ${String(code ?? signal)}.`);
}

async function kill({ child }: Writer): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/**
 * Checks that a copy has all writes acknowledged before it, no writes started after it, and each
 * lane in a state of one instant.
 */
export async function assertCopy(directory: string, before: Progress, after: Progress): Promise<number> {
  const { engine } = await openEngine(directory);
  const { damages, objects } = await engine.verify();
  await engine.close();
  assert.deepEqual(damages, [], "the copy is whole");
  const store = await openStore(directory);
  try {
    for (const { name } of await store.listBuckets()) await store.bucket(name).list();
    const found = await lanesIn(store);
    for (const [lane, end] of after) {
      const start = before.get(lane) ?? { begun: 0, acknowledged: 0 };
      assertOneInstant(lane, found.get(lane) ?? new Map(), start, end);
    }
    await store.sweep();
  } finally {
    await store.close();
  }
  assertNothingLeftOver(directory);
  return objects;
}

/** Returns the number of the write that stored each object, by lane and key. Checks all bytes. */
async function lanesIn(store: Store): Promise<Map<string, Map<string, number>>> {
  const lanes = new Map<string, Map<string, number>>();
  for (const name of buckets) {
    for await (const { key, number, bytes } of objectsIn(store.bucket(name))) {
      const lane = key.slice(0, key.indexOf("/"));
      assertBytes(bytes, expectedBytes(lane, key, number), key);
      lanes.set(lane, (lanes.get(lane) ?? new Map<string, number>()).set(key, number));
    }
  }
  return lanes;
}

async function* objectsIn(bucket: StoreBucket) {
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ cursor, include: ["customMetadata"] });
    for (const { key, customMetadata } of page.objects) {
      const object = await bucket.get(key);
      assert.ok(object !== null && "body" in object, `${key} is listed and there`);
      yield { key, number: Number(customMetadata!.number), bytes: Buffer.from(await object.arrayBuffer()) };
    }
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
