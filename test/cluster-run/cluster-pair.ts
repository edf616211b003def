// The cluster as an implementation the contracts run on: every one that is opened has a place of its own.
import { openCluster } from "../../src/cluster/open.ts";
import { pair } from "../support/ports.ts";
import { addressVariable } from "./contract-run.ts";
import { type Addresses, createPlace, type Place } from "./place.ts";

export function newPlace(): Promise<Place> {
  return createPlace(JSON.parse(process.env[addressVariable]!) as Addresses);
}

// Databases and bytes go with the cluster, shortly.
const remove = async () => {};

export const cluster = pair("cluster", async () => {
  const place = await newPlace();
  return { ports: await openCluster(place.through(0)), remove };
});
