// The cluster as an implementation the contracts run on: every store that is opened has a place of its own. Databases
// and bytes go with the cluster, shortly.
import { openCluster } from "../../src/cluster/open.ts";
import { openStore } from "../../src/index.ts";
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
};
