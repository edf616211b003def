// The services of a cluster: Ceph for the blobs and PostgreSQL under Patroni for the records,
// started and stopped together.
import { type Ceph, startCeph } from "./ceph.ts";
import { type Addresses, backendBucket } from "./location.ts";
import { type Patroni, startPatroni } from "./patroni.ts";
import { createGrounds, type Grounds } from "./sandbox.ts";

export interface Environment {
  readonly ceph: Ceph;
  readonly patroni: Patroni;
  readonly grounds: Grounds;
  stop(): Promise<void>;
}

export function addressesOf({ ceph, patroni }: Environment): Addresses {
  return { records: patroni.url, blobs: ceph.endpoints.map((_, i) => ceph.url(backendBucket, i)) };
}

export async function startEnvironment(): Promise<Environment> {
  const grounds = createGrounds();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void grounds.end().finally(() => process.exit(1)));
  }
  try {
    const [ceph, patroni] = await Promise.all([startCeph(grounds), startPatroni(grounds)]);
    await ceph.createBucket(backendBucket);
    return { ceph, patroni, grounds, stop: () => grounds.end() };
  } catch (error) {
    for (const name of ["mon.a", "osd.0", "rgw.0", "etcd", "node0", "node1"]) {
      console.error(`-- ${name}\n${grounds.lastOutput(name)}`);
    }
    await grounds.end();
    throw error;
  }
}
