// Uploads cut off in the middle, by the thousand: by clients of the S3 API and of a script that go away, parts of
// uploads that are aborted then, and streams that fail inside a script. They leave no byte, no file and no
// descriptor, and memory does not grow with them.
import assert from "node:assert/strict";
import { openStore } from "../../src/index.ts";
import { assertNothingLeftOver, blobFiles } from "../crash/on-disk.ts";
import { sendRaw, signRaw } from "../s3/raw.ts";
import { until } from "../script/inside.ts";
import { createRandom, type Random } from "../support/random.ts";
import { cuts, type OpenUploads } from "./leaks-clients.ts";
import { type LeakScene, type Measured, openLeakScene } from "./leaks-scene.ts";
import type { Budget, Figures, Proof } from "./proof.ts";

const atOnce = 48;
/** Objects that stay, so that there is something to lose: one a face. */
const kept = 2;
/** Ten thousand times a leak of seven kilobytes would be more. */
const mostGrowth = 64 * 1024 * 1024;

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
  // What is opened for good, and memory that is taken once, is taken by these.
  for (let warm = 0; warm < 5; warm++) await cutBatch(scene, random);
  await scene.settled(kept);
  const before = scene.measure();
  const done: Record<string, number> = Object.fromEntries(Object.keys(cuts).map((kind) => [kind, 0]));
  let all = 0;
  for (let batch = 0; budget.more(all); batch++) {
    for (const kind of await cutBatch(scene, random)) {
      done[kind]!++;
      all++;
    }
    if (batch % 10 === 9) {
      await scene.settled(kept);
      budget.say(`${all} uploads cut off`);
    }
  }
  await scene.settled(kept);
  const grown = await assertMeasured(scene, before);
  const { objects, damages } = await scene.verify();
  assert.deepEqual({ objects, damages }, { objects: kept, damages: [] }, "store verify finds it clean");
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

/** One of each kind in turn, all at once, and both uploads aborted behind their parts. */
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

/** No process has more descriptors than before, and none was replaced. How many MiB the one that grew most grew. */
async function assertMeasured(scene: LeakScene, before: Measured): Promise<number> {
  const told = (measured: Measured) => JSON.stringify([[...measured.files], [...measured.sockets]]);
  const isBack = () => {
    const now = scene.measure();
    const isWithin = (kind: "files" | "sockets", more: number) =>
      [...before[kind]].every(
        ([pid, count]) => (now[kind].get(pid) ?? Number.POSITIVE_INFINITY) <= count + more,
      );
    // Connections inside the server are kept for the next request: never more than there were requests at once.
    return isWithin("files", 0) && isWithin("sockets", atOnce);
  };
  await until(isBack, `descriptors ${told(before)} and then ${told(scene.measure())}`);
  const after = scene.measure();
  assert.deepEqual([...after.files.keys()], [...before.files.keys()], "they are the same processes");
  const growth = [...after.memory].map(([pid, bytes]) => bytes - before.memory.get(pid)!);
  const most = Math.max(...growth);
  assert.ok(most <= mostGrowth, `memory grew by ${growth.join(", ")} bytes`);
  return Math.max(0, Math.round(most / 1024 / 1024));
}

async function assertNothingLeft(data: string): Promise<void> {
  assert.equal(blobFiles(data).length, kept, "only the objects that were kept have files");
  const store = await openStore(data);
  await store.sweep();
  await store.close();
  assertNothingLeftOver(data);
}
