// Creates a new location for a store on the cluster: its own database and its own prefix on S3.
import pg from "pg";
import { migrateCluster } from "../../src/cluster/open.ts";
import type { ClusterPlace } from "./open-cluster.ts";

/** The URLs of the cluster, for other processes. */
export interface Addresses {
  /** URL of PostgreSQL, without a database name at the end. */
  readonly records: string;
  /** One URL per radosgw, without a prefix at the end. */
  readonly blobs: readonly string[];
}

export interface Place {
  readonly database: string;
  readonly prefix: string;
  /** Returns the location for openStore, with access to the blobs through this radosgw. */
  through(gateway: number): ClusterPlace;
}

/** The bucket on S3 for the blobs of all stores. */
export const backendBucket = "store";

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

/** Creates the database on the host that accepts writes. */
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
  throw new Error("No server of the cluster accepts writes");
}
