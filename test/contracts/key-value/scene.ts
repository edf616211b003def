// Helpers of the key-value contracts: a store with an empty namespace and a settable clock.
import { after, type TestContext, test } from "node:test";
import type { Store, StoreKvNamespace } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";

export interface Scene {
  readonly store: Store;
  readonly kv: StoreKvNamespace;
  readonly clock: Clock;
}

export interface Clock {
  /** The clock's time, in milliseconds since the epoch. */
  time: number;
}

/** Initial time of a scene's clock, in seconds since the epoch. */
export const start = 1_700_000_000;

export const namespace = "Sessions_1.a-b";

/**
 * Opens stores for tests. Tests share a store if possible, since opening takes longer than a test.
 */
export interface Scenes {
  /** Returns an empty namespace in a store that tests share. */
  shared(): Promise<Scene>;
  /** Returns a namespace in a separate store, for tests that sweep or list the whole store. */
  own(t: TestContext): Promise<Scene>;
  /** Titles of tests that a runtime of others does not pass, with the reasons. */
  readonly differences?: Readonly<Record<string, string>>;
}

/** Like `test`, but skips a test that the runtime of the scenes does not pass. */
export function testUnlessDifferent(scenes: Scenes, title: string, run: () => Promise<void>): void {
  test(title, { skip: scenes.differences?.[title] ?? false }, run);
}

/** Must be called in a suite: the shared store is closed at the end of the suite. */
export function createScenes(implementation: Pick<Implementation, "open">): Scenes {
  const endings: (() => unknown)[] = [];
  after(async () => {
    for (const end of endings) await end();
  });
  const suite = { after: (end: () => unknown) => endings.push(end) } as unknown as TestContext;
  const clock = { time: 0 };
  let store: Promise<Store> | undefined;
  let count = 0;

  async function scene(opened: Store, name: string, time: Clock): Promise<Scene> {
    time.time = start * 1000 + 500;
    await opened.createKvNamespace(name);
    return { store: opened, kv: opened.kv(name), clock: time };
  }

  return {
    async shared() {
      store ??= implementation.open(suite, { now: () => clock.time });
      return scene(await store, `${namespace}${count++}`, clock);
    },
    async own(t) {
      const time = { time: 0 };
      return scene(await implementation.open(t, { now: () => time.time }), namespace, time);
    },
  };
}

/** Casts an argument of the wrong type, as untyped scripts pass it. */
export function wrong<T>(value: unknown): T {
  return value as T;
}

/** Returns a stream of `length` bytes in chunks that records whether it was cancelled. */
export function streamOf(length: number, chunkBytes = 65_536) {
  let left = length;
  const state = { cancelled: false, pulled: 0 };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left === 0) return controller.close();
      const size = Math.min(left, chunkBytes);
      left -= size;
      state.pulled += size;
      controller.enqueue(new Uint8Array(size).fill(7));
    },
    cancel() {
      state.cancelled = true;
    },
  });
  return { stream, state };
}
