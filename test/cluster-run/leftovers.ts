// Compares the blobs on S3 with the records in the database, both read without Store: every stored
// blob must be named by a record, and every named blob must be stored.
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import pg from "pg";
import type { Environment } from "./environment.ts";
import { backendBucket, type Place } from "./location.ts";

export interface Leftovers {
  /** Blobs on S3 that no record names. */
  readonly orphans: readonly string[];
  /** Blobs that a record names but that are not on S3. */
  readonly missing: readonly string[];
  /** Row counts of the tables that must be empty after all writes and garbage collection. */
  readonly rows: Readonly<Record<string, number>>;
  readonly blobs: number;
}

export function isNothing({ orphans, missing, rows }: Leftovers): boolean {
  return orphans.length === 0 && missing.length === 0 && Object.values(rows).every((count) => count === 0);
}

const name = /[0-9a-f]{32}/g;

export async function findLeftovers(environment: Environment, place: Place): Promise<Leftovers> {
  const there = await shelved(environment, place);
  const client = new pg.Client(
    environment.patroni.adminUrl(await environment.patroni.leader(), place.database),
  );
  await client.connect();
  try {
    const named = new Set<string>();
    const texts = [
      "SELECT blob FROM store.objects",
      "SELECT blob FROM store.parts",
      "SELECT parts FROM store.manifests",
    ];
    for (const text of texts) {
      const { rows } = await client.query<[string | null]>({ text, rowMode: "array" });
      for (const [names] of rows) for (const [found] of (names ?? "").matchAll(name)) named.add(found);
    }
    const rows: Record<string, number> = {};
    for (const table of ["intents", "dead", "remains"]) {
      const { rows: counted } = await client.query<[string]>({
        text: `SELECT count(*) FROM store.${table}`,
        rowMode: "array",
      });
      rows[table] = Number(counted[0]![0]);
    }
    const { rows: known } = await client.query<[string]>({
      text: "SELECT name FROM store.blobs",
      rowMode: "array",
    });
    rows["blobs of no record"] = known.filter(([one]) => !named.has(one)).length;
    return {
      orphans: [...there].filter((one) => !named.has(one)),
      missing: [...named].filter((one) => !there.has(one)),
      rows,
      blobs: there.size,
    };
  } finally {
    await client.end();
  }
}

/** Returns the names of the blobs on S3; a long blob has several pieces. */
async function shelved({ ceph }: Environment, { prefix }: Place): Promise<Set<string>> {
  const s3 = ceph.client();
  const names = new Set<string>();
  try {
    let token: string | undefined;
    do {
      const page = await s3.send(
        new ListObjectsV2Command({ Bucket: backendBucket, Prefix: prefix, ContinuationToken: token }),
      );
      for (const { Key } of page.Contents ?? []) for (const [found] of Key!.matchAll(name)) names.add(found);
      token = page.NextContinuationToken;
    } while (token !== undefined);
  } finally {
    s3.destroy();
  }
  return names;
}
