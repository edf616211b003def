// Shares stores between tests, because opening a store takes longer than most tests. A test with
// other options opens its own store.
import { after, type TestContext } from "node:test";
import type { OpenOptions, Store } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";

/** Half a second past a full second: rounding to seconds changes this time. */
export const fixedTime = Date.parse("2024-05-06T07:08:09.500Z");
export const fixedClock: OpenOptions = { now: () => fixedTime };

/** Options of a store with few buckets, for tests that sweep: a sweep visits every bucket. */
export const sweptStore: OpenOptions = {};

/** Options of a store for one test, which may damage or close the store. */
export const ownStore = (): OpenOptions => ({});

const shared: readonly (OpenOptions | undefined)[] = [undefined, fixedClock, sweptStore];

/** Returns an implementation whose stores are shared and closed at the end of the current suite. */
export function sharingStores(implementation: Implementation): Implementation {
  const stores = new Map<OpenOptions | undefined, Promise<Store>>();
  const endings: (() => unknown)[] = [];
  after(async () => {
    for (const end of endings) await end();
  });
  // Opening a store uses only `after` of the test context, so no other method is needed.
  const suite = { after: (end: () => unknown) => endings.push(end) } as unknown as TestContext;
  return {
    name: implementation.name,
    openEngine: (t, options) => implementation.openEngine(t, options),
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
