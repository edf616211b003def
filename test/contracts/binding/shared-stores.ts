// Opening a store takes longer than most tests, so tests that only need a bucket of their own share
// a store, which is closed after the suite. A test with other options opens its own store.
import { after, type TestContext } from "node:test";
import type { OpenOptions, Store } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";

/** In the middle of a second, so that whole seconds and milliseconds differ. */
export const fixedTime = Date.parse("2024-05-06T07:08:09.500Z");
export const fixedClock: OpenOptions = { now: () => fixedTime };

/** For tests that sweep: a sweep visits every bucket of a store, and this store has few. */
export const sweptStore: OpenOptions = {};

/** A store for one test only, which may damage or close it. */
export const ownStore = (): OpenOptions => ({});

const shared: readonly (OpenOptions | undefined)[] = [undefined, fixedClock, sweptStore];

/** The same implementation with stores that are closed at the end of the current suite. */
export function sharingStores(implementation: Implementation): Implementation {
  const stores = new Map<OpenOptions | undefined, Promise<Store>>();
  const endings: (() => unknown)[] = [];
  after(async () => {
    for (const end of endings) await end();
  });
  // Opening a store only uses `after` of the test's context.
  const suite = { after: (end: () => unknown) => endings.push(end) } as unknown as TestContext;
  return {
    name: implementation.name,
    open(t, options) {
      if (!shared.includes(options)) return implementation.open(t, options);
      let store = stores.get(options);
      if (store === undefined) {
        store = implementation.open(suite, options);
        stores.set(options, store);
      }
      return store;
    },
  };
}
