// Opening a store costs more than most tests do. Those that only need a bucket of their own share a store,
// which is closed after the suite; a test that passes other options than these opens one for itself.
import { after, type TestContext } from "node:test";
import type { OpenOptions, Store } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";

/** In the middle of a second, so that whole seconds and milliseconds differ. */
export const fixedTime = Date.parse("2024-05-06T07:08:09.500Z");
export const fixedClock: OpenOptions = { now: () => fixedTime };

/** For tests that sweep: the sweep visits every bucket of a store, and here they are few. */
export const sweptStore: OpenOptions = {};

/** For a test that does to its store what nobody else should see. */
export const ownStore = (): OpenOptions => ({});

const shared: readonly (OpenOptions | undefined)[] = [undefined, fixedClock, sweptStore];

/** The same implementation with stores that last for the suite this is called in. */
export function sharingStores(implementation: Implementation): Implementation {
  const stores = new Map<OpenOptions | undefined, Promise<Store>>();
  const endings: (() => unknown)[] = [];
  after(async () => {
    for (const end of endings) await end();
  });
  // All that is asked of a test by the one who opens a store is to be told when it is over.
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
