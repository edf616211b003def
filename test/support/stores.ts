// The stores on which the contracts run, each newly created and closed after the test.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Engine } from "../../src/engine/engine.ts";
import { type OpenOptions, openStore, type Store } from "../../src/index.ts";
import { openEngine } from "../../src/open.ts";

export interface Implementation {
  readonly name: "memory" | "local" | "cluster";
  open(t: Pick<TestContext, "after">, options?: OpenOptions): Promise<Store>;
  /** Opens a store as an engine, for tests that change settings of buckets. */
  openEngine(t: Pick<TestContext, "after">, options?: OpenOptions): Promise<Engine>;
}

export const implementations: readonly Implementation[] = [
  {
    name: "memory",
    async open(t, options) {
      const store = await openStore("memory:", options);
      t.after(() => store.close());
      return store;
    },
    async openEngine(t, options) {
      const { engine } = await openEngine("memory:", options);
      t.after(() => engine.close());
      return engine;
    },
  },
  {
    name: "local",
    open: (t, options) => openDirectory(t, (directory) => openStore(directory, options)),
    openEngine: (t, options) =>
      openDirectory(t, async (directory) => (await openEngine(directory, options)).engine),
  },
];

/** Opens a store in a new directory, and closes and deletes it after the test. */
async function openDirectory<T extends { close(): Promise<void> }>(
  t: Pick<TestContext, "after">,
  open: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "store-test-"));
  let store: T | undefined;
  t.after(async () => {
    await store?.close();
    await rm(directory, { recursive: true, force: true });
  });
  store = await open(directory);
  return store;
}

/** Creates a directory that is deleted after the test, which must close all files in it. */
export async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "store-test-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
