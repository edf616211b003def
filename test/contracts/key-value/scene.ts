// What the contracts of key-value namespaces share: a store with an empty namespace, and its clock.
import { after, type TestContext } from "node:test";
import type { Store, StoreKvNamespace } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";

export interface Scene {
  readonly store: Store;
  readonly kv: StoreKvNamespace;
  readonly clock: Clock;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  time: number;
}

/** The seconds since the epoch that the clock of a scene starts at. */
export const start = 1_700_000_000;

export const namespace = "Sessions_1.a-b";

/** Opens what the tests need: opening a store costs more than most of them do. */
export interface Scenes {
  /** An empty namespace in a store that other tests use before and after. */
  shared(): Promise<Scene>;
  /** One in a store of its own, for tests that sweep or look at all of the store. */
  own(t: TestContext): Promise<Scene>;
}

/** Called in a suite: the shared store is closed at its end. */
export function createScenes(implementation: Implementation): Scenes {
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

/** Arguments of the wrong type, as a script without types passes them. */
export function wrong<T>(value: unknown): T {
  return value as T;
}

/** A stream of so many bytes, in chunks, that says whether it was cancelled. */
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
