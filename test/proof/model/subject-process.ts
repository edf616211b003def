// The process that opens the modelled store: performs operations and can be killed at any time.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { bindBucket } from "../../../src/binding/bind.ts";
import { openLocal } from "../../../src/local/open.ts";
import { isDeleteMarker } from "../../../src/model/version.ts";
import { assertNothingLeftOver, blobFiles } from "../../support/disk/on-disk.ts";
import { createDamage } from "./damage.ts";
import { bucketName } from "./operation.ts";
import { answerDigest, type Question, type Reply, type Unexpected } from "./questions.ts";
import { createSide, diskSizes, type Ports, type Side } from "./side.ts";

const week = 7 * 24 * 3600 * 1000;

// Most errors are expected, and a stack trace costs more than the operation.
Error.stackTraceLimit = 2;

let directory = "";
let ports: Ports | undefined;
let side: Side | undefined;
const damage = createDamage(() => directory);

async function open(): Promise<void> {
  ports = await openLocal(directory, diskSizes);
  side = createSide(ports);
}

async function answer(question: Question): Promise<unknown> {
  switch (question.do) {
    case "open":
      directory = question.directory;
      await open();
      if ((await side!.engine.bucket(bucketName)) === undefined) await side!.engine.createBucket(bucketName);
      return null;
    case "task":
      return side!.perform(question.task);
    case "tasks":
      for (const [at, { task, digest }] of question.tasks.entries()) {
        const answer = await side!.perform(task);
        if (answerDigest(answer) !== digest) return { at, answer } satisfies Unexpected;
      }
      return null;
    case "begin":
      return createSide(ports!).perform(question.task);
    case "reopen":
      await side!.engine.close();
      return open();
    case "audit":
      await side!.engine.close();
      assertNothingLeftOver(directory);
      return open();
    case "verify":
      return (await side!.engine.verify()).damages;
    case "flip":
      return damage.flip(ports!, question.flip);
    case "mend":
      return damage.mend();
    case "empty":
      return empty(question.now);
  }
}

async function empty(now: number): Promise<void> {
  const { engine, perform } = side!;
  const sweep = (at: number) => perform({ operation: { do: "sweep" }, now: at, draw: "" });
  await engine.changeSettings(bucketName, { lifecycle: undefined, lockRules: undefined });
  const bucket = bindBucket(engine, bucketName);
  const { objects } = await bucket.list();
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
  // Uploads in flight expire after a week, and ended uploads are removed after another week.
  await sweep(now + week);
  await sweep(now + 2 * week);
  const { settings } = (await engine.bucket(bucketName))!;
  if (settings.versioning !== undefined) await emptyVersions(now, sweep);
  const left = blobFiles(directory).map(({ id }) => id);
  if (left.length > 0) throw new Error(`Blobs of an empty bucket: ${left.join(", ")}`);
}

/** Ends all locks, deletes all versions, and creates the bucket again, without versions. */
async function emptyVersions(now: number, sweep: (at: number) => Promise<unknown>): Promise<void> {
  const { engine } = side!;
  const { versions } = await engine.listVersions(bucketName);
  for (const { version } of versions) {
    if (isDeleteMarker(version) || version.lock?.legalHold === undefined) continue;
    await engine.setLegalHold(bucketName, version.key, false, { version: version.version });
  }
  // Every retention ends within days.
  await sweep(now + 8 * week);
  const targets = versions.map(({ version: { key, version } }) => ({ key, version }));
  if (targets.length > 0) await engine.deleteVersions(bucketName, targets);
  await sweep(now + 8 * week);
  await engine.deleteBucket(bucketName);
  await engine.createBucket(bucketName);
  // The files of the deleted bucket take space until its statements are garbage-collected.
  await engine.close();
  collectGarbage();
  await open();
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

process.on("message", ({ id, question }: { id: number; question: Question }) => {
  answer(question).then(
    (result) => process.send!({ id, answer: result ?? null } satisfies Reply),
    (error: unknown) => {
      const failed = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.send!({ id, failed } satisfies Reply);
    },
  );
});
process.on("disconnect", () => process.exit());
