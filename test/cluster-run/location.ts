// A new place for a store on the cluster: a database of its own, and a prefix of its own on the S3 side.
import pg from "pg";
import { migrateCluster } from "../../src/cluster/open.ts";
import type { ClusterPlace } from "./open-cluster.ts";

/** The cluster as other processes are told of it: by its URLs. */
export interface Addresses {
  /** With no database at its end. */
  readonly records: string;
  /** Of each radosgw, with no prefix at its end. */
  readonly blobs: readonly string[];
}

export interface Place {
  readonly database: string;
  readonly prefix: string;
  /** What a cluster is opened with; the bytes go through this radosgw. */
  through(gateway: number): ClusterPlace;
}

/** The bucket on the S3 side. */
export const shelfBucket = "store";

let places = 0;

export async function createPlace({ records, blobs }: Addresses): Promise<Place> {
  const name = `store_${process.pid}_${++places}`;
  await createDatabase(records, name);
  const through = (gateway: number) => ({
    records: `${records}/${name}`,
    blobs: `${blobs[gateway]!}/${name}`,
  });
  await migrateCluster(through(0));
  return { database: name, prefix: `${name}/`, through };
}

/** On whichever of the hosts takes writes. */
async function createDatabase(records: string, name: string): Promise<void> {
  const [, start, hosts] = /^(.*@)([^/]*)$/.exec(records)!;
  for (const host of hosts!.split(",")) {
    const client = new pg.Client(`${start}${host}/postgres`);
    await client.connect();
    try {
      const { rows } = await client.query<{ is: boolean }>("SELECT pg_is_in_recovery() AS is");
      if (rows[0]!.is) continue;
      await client.query(`CREATE DATABASE ${name}`);
      return;
    } finally {
      await client.end();
    }
  }
  throw new Error("No server of the cluster takes writes");
}
