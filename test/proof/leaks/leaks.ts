// Cuts off thousands of uploads: clients that disconnect, parts of aborted uploads, and streams
// that fail inside a script. They must leave no bytes, files, descriptors or memory growth.
import assert from "node:assert/strict";
import { openStore } from "../../../src/index.ts";
import { sendRaw, signRaw } from "../../s3/raw.ts";
import { until } from "../../script/inside.ts";
import { assertNothingLeftOver, blobFiles } from "../../support/disk/on-disk.ts";
import { createRandom, type Random } from "../../support/random.ts";
import type { Budget, Figures, Proof } from "../proof.ts";
import { cuts, type OpenUploads } from "./clients.ts";
import { type LeakScene, type Measured, openLeakScene } from "./scene.ts";

const atOnce = 48;
/** Number of objects that remain, one per front end, to detect data loss. */
const kept = 2;
const MiB = 1024 * 1024;
/** Memory growth allowed after the first quarter of a long run, when the processes are warm. */
const mostGrowth = 64 * MiB;
/** Memory growth allowed in a short run, while the processes still warm up. */
const mostAtFirst = 128 * MiB;

export const leaks: Proof = {
  name: "leaks",
  unit: "aborted uploads",
  bar: 10_000,
  async run(budget) {
    const ends: (() => unknown)[] = [];
    try {
      return await cutOften(budget, await openLeakScene({ after: (end) => ends.push(end) }));
    } finally {
      for (const end of ends.reverse()) await end();
    }
  },
};

async function cutOften(budget: Budget, scene: LeakScene): Promise<Figures> {
  const random = createRandom(budget.seed);
  await keepSome(scene);
  // Warm up first: the processes open files and allocate memory that they keep.
  for (let warm = 0; warm < 5; warm++) await cutBatch(scene, random);
  await scene.settled(kept);
  const before = scene.measure();
  const memory = [before.memory];
  const done: Record<string, number> = Object.fromEntries(Object.keys(cuts).map((kind) => [kind, 0]));
  let all = 0;
  for (let batch = 0; budget.more(all); batch++) {
    for (const kind of await cutBatch(scene, random)) {
      done[kind]!++;
      all++;
    }
    if (batch % 10 === 9) {
      await scene.settled(kept);
      memory.push(scene.measure().memory);
      const mebibytes = [...memory.at(-1)!.values()].map((bytes) => Math.round(bytes / MiB));
      budget.say(`${all} uploads cut off, MiB in the processes: ${mebibytes.join(", ")}`);
    }
  }
  await scene.settled(kept);
  await assertMeasured(scene, before);
  const grown = assertMemory([...memory, scene.measure().memory]);
  const { objects, damages } = await scene.verify();
  assert.deepEqual(
    { objects, damages },
    { objects: kept, damages: [] },
    "store verify reports the kept objects and no damage",
  );
  await assertNothingLeft(await scene.stop());
  return {
    "aborted uploads": all,
    ...done,
    "files left": 0,
    "descriptors left": 0,
    "MiB grown at most": grown,
  };
}

async function keepSome(scene: LeakScene): Promise<void> {
  const body = Buffer.alloc(100_000, "kept ");
  await scene.ask({ method: "PUT", path: "/kept-by-script", body });
  const raw = { method: "PUT", path: "/bucket/kept-by-s3", body };
  const { status } = await sendRaw(scene.s3, signRaw(scene.s3, raw, { key: scene.key, form: "header" }));
  assert.equal(status, 200);
}

/** Runs cuts of all kinds concurrently, then aborts both uploads. */
async function cutBatch(scene: LeakScene, random: Random): Promise<string[]> {
  const uploads = await openUploads(scene);
  const kinds = Object.keys(cuts);
  const batch = Array.from({ length: atOnce }, (_, i) => kinds[i % kinds.length]!);
  await Promise.all(batch.map((kind) => cuts[kind]!(scene, uploads, random)));
  await abortUploads(scene, uploads);
  return batch;
}

async function callUploads(scene: LeakScene, method: string, query: readonly (readonly [string, string])[]) {
  const raw = { method, path: "/bucket/parts", query };
  return sendRaw(scene.s3, signRaw(scene.s3, raw, { key: scene.key, form: "header" }));
}

async function openUploads(scene: LeakScene): Promise<OpenUploads> {
  const { text } = await callUploads(scene, "POST", [["uploads", ""]]);
  const s3 = /<UploadId>([^<]+)</.exec(text)?.[1];
  assert.ok(s3, text);
  return { s3, script: (await scene.ask({ method: "POST", path: "/parts" })).text };
}

async function abortUploads(scene: LeakScene, { s3, script }: OpenUploads): Promise<void> {
  const { status } = await callUploads(scene, "DELETE", [["uploadId", s3]]);
  assert.equal(status, 204);
  const answer = await scene.ask({ method: "DELETE", path: `/parts?upload=${script}` });
  assert.equal(answer.text, "aborted");
}

/** Asserts that no process has more descriptors than before, and that no process was replaced. */
async function assertMeasured(scene: LeakScene, before: Measured): Promise<void> {
  const told = (measured: Measured) => JSON.stringify([[...measured.files], [...measured.sockets]]);
  const isBack = () => {
    const now = scene.measure();
    const isWithin = (kind: "files" | "sockets", more: number) =>
      [...before[kind]].every(
        ([pid, count]) => (now[kind].get(pid) ?? Number.POSITIVE_INFINITY) <= count + more,
      );
    // Keep-alive connections between the server's processes may stay: one per concurrent request.
    return isWithin("files", 0) && isWithin("sockets", atOnce);
  };
  await until(isBack, `descriptors ${told(before)} and then ${told(scene.measure())}`);
  const after = scene.measure();
  assert.deepEqual([...after.files.keys()], [...before.files.keys()], "no process was replaced");
}

/** Asserts that memory grew little between the halves of the run; returns the growth in MiB. */
function assertMemory(all: readonly Measured["memory"][]): number {
  const isLong = all.length >= 12;
  const samples = isLong ? all.slice(Math.ceil(all.length / 4)) : all;
  const half = Math.ceil(samples.length / 2);
  const least = (some: readonly Measured["memory"][], pid: number) =>
    Math.min(...some.map((sample) => sample.get(pid)!));
  const growth = [...samples[0]!.keys()].map(
    (pid) => least(samples.slice(half), pid) - least(samples.slice(0, half), pid),
  );
  const most = Math.max(...growth);
  assert.ok(most <= (isLong ? mostGrowth : mostAtFirst), `memory grew by ${growth.join(", ")} bytes`);
  return Math.max(0, Math.round(most / MiB));
}

async function assertNothingLeft(data: string): Promise<void> {
  assert.equal(blobFiles(data).length, kept, "only the objects that were kept have files");
  const store = await openStore(data);
  await store.sweep();
  await store.close();
  assertNothingLeftOver(data);
}
