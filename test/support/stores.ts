// The stores on which the contracts run, each newly created and closed after the test.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type OpenOptions, openStore, type Store } from "../../src/index.ts";

export interface Implementation {
  readonly name: "memory" | "local" | "cluster";
  open(t: Pick<TestContext, "after">, options?: OpenOptions): Promise<Store>;
}

export const implementations: readonly Implementation[] = [
  {
    name: "memory",
    async open(t, options) {
      const store = await openStore("memory:", options);
      t.after(() => store.close());
      return store;
    },
  },
  {
    name: "local",
    async open(t, options) {
      const directory = await mkdtemp(join(tmpdir(), "store-test-"));
      let store: Store | undefined;
      t.after(async () => {
        await store?.close();
        await rm(directory, { recursive: true, force: true });
      });
      store = await openStore(directory, options);
      return store;
    },
  },
];

/** Creates a directory that is deleted after the test, which must close all files in it. */
export async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "store-test-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
