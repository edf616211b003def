// The background scrub verifies all objects once a week, in one process at a time. It resumes after
// an interruption and reports each damaged object once.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Engine } from "../../../src/engine/engine.ts";
import type { Damage } from "../../../src/engine/maintenance/reports.ts";
import { type OpenEngine, openEngine } from "../../../src/open.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { flipBit } from "../../support/disk/damage.ts";
import { blobFiles } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const bucket = "photos";
const week = 7 * 86_400_000;
const fast = 1e12;
const objects = 60;

interface Scene {
  readonly directory: string;
  /** Time of the clock that all engines of a test share; each engine adds its own offset. */
  time: number;
  open(ahead?: number): Promise<OpenEngine>;
}

async function scene(t: TestContext): Promise<Scene> {
  const directory = await temporaryDirectory(t);
  const made: Scene = {
    directory,
    time: Date.UTC(2026, 0, 1),
    open: (ahead = 0) => openEngine(directory, { now: () => made.time + ahead }),
  };
  const { engine } = await made.open();
  await engine.createBucket(bucket);
  for (let i = 0; i < objects; i++) await engine.put(bucket, `key ${i}`, sampleBytes(i * 200));
  await engine.close();
  return made;
}

function scrubbing(engine: Engine, bytesPerSecond = fast) {
  const found: Damage[] = [];
  const onDamage = (damage: Damage) => found.push(damage);
  return { found, ended: engine.scrub({ onDamage, bytesPerSecond, savedMilliseconds: 0 }) };
}

/** Read rate in bytes per second, slow enough that a test can interrupt the scrub. */
const slow = 1e6;

/** Resolves once the scrub has saved its position after some objects. */
async function underWay({ documents }: OpenEngine): Promise<void> {
  for (;;) {
    const state = await documents.get("housekeeping", "scrub");
    if (state !== undefined && JSON.parse(state.text).objects > 2) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a scrub reads all bodies once a week, and verify reports the last scrub", async (t) => {
  const made = await scene(t);
  const { engine } = await made.open();
  assert.equal((await engine.verify()).lastScrub, undefined);
  assert.equal(await scrubbing(engine).ended, "ended");
  const bytes = (await engine.totals(bucket)).bytes;
  const report = { ended: made.time, objects, bytes, damages: 0 };
  assert.deepEqual((await engine.verify()).lastScrub, report);
  made.time += week - 1;
  assert.equal(await scrubbing(engine).ended, "not due");
  made.time += 1;
  assert.equal(await scrubbing(engine).ended, "ended");
  assert.deepEqual((await engine.verify()).lastScrub, { ...report, ended: made.time });
  await engine.close();
});

test("a damaged object is reported once, by bucket and key, and counted in every scrub", async (t) => {
  const made = await scene(t);
  const [file] = blobFiles(made.directory);
  flipBit({ path: file!.path, offset: 100, bit: 3 });
  const { engine } = await made.open();
  const first = scrubbing(engine);
  assert.equal(await first.ended, "ended");
  assert.equal(first.found.length, 1);
  assert.equal(first.found[0]!.bucket, bucket);
  assert.match(first.found[0]!.key!, /^key /);
  assert.match(first.found[0]!.what, /damaged/);
  made.time += week;
  const second = scrubbing(engine);
  assert.equal(await second.ended, "ended");
  assert.deepEqual(second.found, []);
  assert.equal((await engine.verify()).lastScrub?.damages, 1);
  await engine.close();
});

test("only one of two processes scrubs, and the other resumes after the first stops", async (t) => {
  const made = await scene(t);
  const [a, b] = [await made.open(), await made.open()];
  const first = scrubbing(a.engine, slow);
  await underWay(b);
  assert.equal(await scrubbing(b.engine).ended, "not due");
  await a.engine.close();
  assert.equal(await first.ended, "stopped");
  assert.equal(await scrubbing(b.engine).ended, "ended");
  assert.equal((await b.engine.verify()).lastScrub?.objects, objects, "every object was read exactly once");
  await b.engine.close();
});

test("a scrub whose process sends no heartbeat is taken over, and the old process stops", async (t) => {
  const made = await scene(t);
  // The clocks differ by more than the heartbeat limit, as after a suspended process or a clock
  // change. The sign of the offset does not matter.
  const [a, b] = [await made.open(), await made.open(-61_000)];
  const first = scrubbing(a.engine, slow);
  await underWay(b);
  // If the first process saves its heartbeat at the same moment, the takeover fails and is retried.
  let outcome: string;
  do outcome = await scrubbing(b.engine, slow).ended;
  while (outcome === "not due" && (await Promise.race([first.ended, "under way"])) === "under way");
  assert.equal(await first.ended, "taken over");
  assert.equal(outcome, "ended");
  await a.engine.close();
  await b.engine.close();
});
