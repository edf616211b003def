// A program that creates, fills, empties and deletes buckets until it is killed.
import { openStore } from "../../../src/index.ts";
import { readTask, say } from "../../../src/prove/kill/run-until-killed.ts";
import { bytesOf, type Value } from "../bodies.ts";

export interface MakerTask {
  readonly directory: string;
  readonly names: readonly string[];
  /** The objects of each bucket. */
  readonly content: readonly { readonly key: string; readonly value: Value }[];
}

export interface MakerReport {
  readonly said: "trying" | "done";
  readonly name: string;
  readonly step: "create" | "fill" | "empty" | "delete";
}

const { directory, names, content } = readTask<MakerTask>();
const store = await openStore(directory);
const taken = new Set((await store.listBuckets()).map(({ name }) => name));
await Promise.all(names.map(liveAndDie));

async function liveAndDie(name: string): Promise<never> {
  const bucket = store.bucket(name);
  for (let exists = taken.has(name); ; exists = false) {
    if (!exists) {
      await step(name, "create", () => store.createBucket(name));
      await step(name, "fill", () =>
        Promise.all(content.map(({ key, value }) => bucket.put(key, bytesOf(key, value)))),
      );
    }
    await step(name, "empty", () => bucket.delete(content.map(({ key }) => key)));
    await step(name, "delete", () => store.deleteBucket(name));
  }
}

async function step(name: string, step: MakerReport["step"], work: () => Promise<unknown>): Promise<void> {
  say({ said: "trying", name, step } satisfies MakerReport);
  await work();
  say({ said: "done", name, step } satisfies MakerReport);
}
