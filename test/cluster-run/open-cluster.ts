// Opens a store on the cluster with short timeouts, so that a fault and its cleanup take seconds.
// `openStore` itself uses longer timeouts.
import { bindBucket } from "../../src/binding/bind.ts";
import { openCluster } from "../../src/cluster/open.ts";
import { createEngine } from "../../src/engine/create.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { StoreBucket } from "../../src/index.ts";

export interface ClusterPlace {
  readonly records: string;
  readonly blobs: string;
}

export const smallTimes = {
  timeout: 5000,
  heartbeatMilliseconds: 500,
  processTimeoutSeconds: 3,
  lateWriteSeconds: 6,
  backend: { connect: 1000, answer: 2000, idle: 2000, retry: 3000 },
} as const;

export interface OpenedStore {
  readonly engine: Engine;
  bucket(name: string): StoreBucket;
}

/** Opens a store whose reads see all writes acknowledged before them, even after a failover. */
export async function openStrictly(place: ClusterPlace): Promise<OpenedStore> {
  const { records, blobs } = await openCluster({ ...place, reads: "strict" }, smallTimes);
  const engine = createEngine({ records, blobs });
  return { engine, bucket: (name) => bindBucket(engine, name) };
}
