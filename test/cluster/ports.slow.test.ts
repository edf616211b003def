// The contracts of the ports and of the engine on a PostgreSQL server with a blob directory.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { migrateCluster, openCluster } from "../../src/cluster/open.ts";
import { engineContract } from "../contracts/engine.ts";
import { portsContract } from "../contracts/ports.ts";
import { pair } from "../support/ports.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres();
});
after(() => postgres.stop());

const cluster = pair("cluster", async () => {
  const directory = mkdtempSync(join(tmpdir(), "store-test-"));
  const location = { records: await postgres.newDatabase(), blobs: pathToFileURL(directory).href };
  await migrateCluster(location);
  return {
    ports: await openCluster(location),
    remove: async () => rmSync(directory, { recursive: true, force: true }),
  };
});

portsContract(cluster);
engineContract(cluster.name, (t, options) => cluster.openEngine(t, options));
