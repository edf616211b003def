// Starts the backends of the cluster sections: a PostgreSQL that syncs every commit, and an S3
// engine for the blobs, which is Ceph if it is installed, otherwise Store's own S3 API.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { createCredentials } from "../../src/access/keys/credentials.ts";
import { bindBucket } from "../../src/binding/bind.ts";
import { migrateCluster, openCluster } from "../../src/cluster/open.ts";
import { createEngine } from "../../src/engine/create.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { StoreBucket } from "../../src/index.ts";
import type { ClusterLocation } from "../../src/model/names/location.ts";
import { openEngine } from "../../src/open.ts";
import { loadSecretKey } from "../../src/secrets/master-key.ts";
import { startCeph } from "../../test/cluster-run/ceph.ts";
import { isCephInstalled } from "../../test/cluster-run/install.ts";
import { createGrounds } from "../../test/cluster-run/sandbox.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { end, startStore } from "../servers.ts";
import type { S3Access } from "./bare-s3.ts";

export interface ClusterPlace {
  /** Description of the S3 engine for the notes. */
  readonly s3Name: string;
  readonly s3: S3Access;
  /** Creates the database and the blob location of a new store. */
  newLocation(): Promise<ClusterLocation>;
  stop(): Promise<void>;
}

export interface OpenedCluster {
  readonly engine: Engine;
  bucket(name: string): StoreBucket;
}

/** The bucket of the S3 engine that holds the blobs. */
const shelf = "bench";

export async function startPlace(directory: string, bytes?: "without S3"): Promise<ClusterPlace> {
  const postgres = await startPostgres("fsync=on");
  let stores = 0;
  // End PostgreSQL when the benchmark is interrupted.
  process.once("exit", () => void postgres.kill());
  try {
    const s3 = bytes === "without S3" ? undefined : await startS3(directory);
    return {
      s3Name: s3?.name ?? "",
      s3: s3?.access ?? { endpoint: "", bucket: "", accessKeyId: "", secretAccessKey: "" },
      async newLocation() {
        const records = await postgres.newDatabase();
        const folder = join(directory, `bytes-${++stores}`);
        const location = { records, blobs: s3 === undefined ? `file://${folder}` : `${s3.url}/${stores}` };
        if (s3 === undefined) mkdirSync(folder);
        await migrateCluster(location);
        return location;
      },
      async stop() {
        await s3?.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

export async function openAt(location: ClusterLocation): Promise<OpenedCluster> {
  const { records, blobs } = await openCluster(location);
  const engine = createEngine({ records, blobs });
  return { engine, bucket: (name) => bindBucket(engine, name) };
}

/** Opens `count` plain driver connections to the database. */
export async function openClients(records: string, count: number): Promise<pg.Client[]> {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: records }));
  // Ignore errors of clients: after a failure elsewhere, the server stops while they are connected.
  for (const client of clients) client.on("error", () => {});
  await Promise.all(clients.map((client) => client.connect()));
  return clients;
}

interface StartedS3 {
  readonly name: string;
  readonly url: string;
  readonly access: S3Access;
  stop(): Promise<void>;
}

async function startS3(directory: string): Promise<StartedS3> {
  return isCephInstalled() ? startCephS3() : startOwnS3(directory);
}

async function startCephS3(): Promise<StartedS3> {
  const grounds = createGrounds();
  try {
    const ceph = await startCeph(grounds);
    await ceph.createBucket(shelf);
    const { accessKeyId, secretAccessKey } = ceph;
    const access = { endpoint: ceph.endpoints[0]!, bucket: shelf, accessKeyId, secretAccessKey };
    const name = "Ceph radosgw, three OSDs on this machine";
    return { name, url: ceph.url(shelf, 0), access, stop: () => grounds.end() };
  } catch (error) {
    await grounds.end();
    throw error;
  }
}

async function startOwnS3(directory: string): Promise<StartedS3> {
  const folder = join(directory, "s3");
  mkdirSync(folder);
  writeFileSync(join(folder, "index.js"), "export default { fetch: () => new Response() };");
  const data = join(folder, "data");
  mkdirSync(data);
  const { engine, documents } = await openEngine(data);
  await engine.createBucket(shelf);
  const key = await createCredentials(documents, loadSecretKey(data, undefined), Date.now).create();
  await engine.close();
  const { accessKeyId, secretAccessKey } = key;
  const started: ChildProcess[] = [];
  const { s3 } = await startStore(folder, started);
  const { host } = new URL(s3.url);
  return {
    name: "STORE'S OWN S3 API, BECAUSE CEPH IS NOT INSTALLED (npm run test:cluster installs it)",
    url: `s3://${accessKeyId}:${encodeURIComponent(secretAccessKey)}@${host}/${shelf}`,
    access: { endpoint: `http://${host}`, bucket: shelf, accessKeyId, secretAccessKey },
    stop: async () => void (await Promise.all(started.map(end))),
  };
}
