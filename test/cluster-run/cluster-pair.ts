// The cluster as an implementation for the contracts. Every store gets its own location; databases
// and bytes are removed with the cluster.
import { openCluster } from "../../src/cluster/open.ts";
import { openStore } from "../../src/index.ts";
import { openEngine } from "../../src/open.ts";
import { pair } from "../support/ports.ts";
import type { Implementation } from "../support/stores.ts";
import { addressVariable } from "./contract-run.ts";
import { type Addresses, createPlace, type Place } from "./location.ts";

export function newPlace(): Promise<Place> {
  return createPlace(JSON.parse(process.env[addressVariable]!) as Addresses);
}

export const cluster = pair("cluster", async () => {
  const place = await newPlace();
  return { ports: await openCluster(place.through(0)), remove: async () => {} };
});

export const clusterStore: Implementation = {
  name: "cluster",
  async open(t, options) {
    const place = await newPlace();
    const store = await openStore(place.through(0), options);
    t.after(() => store.close());
    return store;
  },
  async openEngine(t, options) {
    const place = await newPlace();
    const { engine } = await openEngine(place.through(0), options);
    t.after(() => engine.close());
    return engine;
  },
};
