// The contracts of the ports and of the engine on a PostgreSQL server with a blob directory.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { migrateCluster, openCluster } from "../../src/cluster/open.ts";
import type { BodyCacheLocation } from "../../src/model/names/location.ts";
import { engineContract } from "../contracts/engine.ts";
import { portsContract } from "../contracts/ports.ts";
import { pair } from "../support/ports.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres();
});
after(() => postgres.stop());

const clusterWith = (cacheOf: (directory: string) => BodyCacheLocation | undefined) =>
  pair("cluster", async () => {
    const directory = mkdtempSync(join(tmpdir(), "store-test-"));
    const location = { records: await postgres.newDatabase(), blobs: pathToFileURL(directory).href };
    await migrateCluster(location);
    return {
      ports: await openCluster({ ...location, cache: cacheOf(directory) }),
      remove: async () => rmSync(directory, { recursive: true, force: true }),
    };
  });
// The ports without a body cache, the engine with one: together they read bodies both ways.
const plain = clusterWith(() => undefined);
const cached = clusterWith((directory) => ({ directory: join(directory, "cache"), size: 2 ** 30 }));

portsContract(plain);
engineContract(cached.name, (t, options) => cached.openEngine(t, options));
