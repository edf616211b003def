// Setup of cluster tests: one PostgreSQL server per test file, and a database per test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { type ClusterTimes, migrateCluster, openCluster } from "../../src/cluster/open.ts";
import type { ClusterLocation } from "../../src/model/names/location.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";

export type Ports = Awaited<ReturnType<typeof openCluster>>;

export interface ClusterScene {
  readonly location: ClusterLocation;
  readonly directory: string;
  /** Opens the cluster again, as another process would. */
  open(times?: Partial<ClusterTimes>, location?: Partial<ClusterLocation>): Promise<Ports>;
  /** Runs SQL directly on the database. */
  ask(text: string, ...values: unknown[]): Promise<unknown[][]>;
}

/** Starts one server for all tests of a file. */
export function useCluster(...settings: string[]): {
  readonly postgres: () => Postgres;
  scene(t: TestContext): Promise<ClusterScene>;
} {
  let postgres: Postgres;
  before(async () => {
    postgres = await startPostgres(...settings);
  });
  after(() => postgres.stop());
  return { postgres: () => postgres, scene: (t) => openScene(t, postgres) };
}

async function openScene(t: TestContext, postgres: Postgres): Promise<ClusterScene> {
  const directory = mkdtempSync(join(tmpdir(), "store-test-"));
  const location = { records: await postgres.newDatabase(), blobs: pathToFileURL(directory).href };
  await migrateCluster(location);
  const client = new pg.Client({ connectionString: location.records });
  await client.connect();
  const opened: Ports[] = [];
  t.after(async () => {
    for (const { records, blobs } of opened) {
      await records.close();
      await blobs.close();
    }
    await client.end();
    rmSync(directory, { recursive: true, force: true });
  });
  // A test may kill the server, so connection errors are ignored.
  client.on("error", () => {});
  return {
    location,
    directory,
    async open(times = {}, other = {}) {
      const ports = await openCluster({ ...location, ...other }, times);
      opened.push(ports);
      return ports;
    },
    async ask(text, ...values) {
      const { rows } = await client.query({ text, values, rowMode: "array" });
      return rows;
    },
  };
}

/** Returns the URL of the same database on another port. */
export function through(records: string, port: number): string {
  return records.replace(/:\d+\//, `:${port}/`);
}

/** Makes every commit wait after its last statement, until the returned function is called. */
export async function lingerBeforeTheEnd(scene: ClusterScene): Promise<() => Promise<void>> {
  await scene.ask(`CREATE FUNCTION store.linger() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$`);
  await scene.ask("SELECT pg_advisory_lock(1)");
  await scene.ask(`CREATE TRIGGER linger AFTER UPDATE OF last ON store.sessions
    FOR EACH ROW EXECUTE FUNCTION store.linger()`);
  return async () => {
    await scene.ask("SELECT pg_advisory_unlock(1)");
  };
}

/** Resolves when a commit waits for a lock in the database. */
export async function commitWaits(scene: ClusterScene): Promise<void> {
  const count =
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'store'";
  await until(async () => Number((await scene.ask(count))[0]![0]) > 0, "a commit waits for a lock");
}

export async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
