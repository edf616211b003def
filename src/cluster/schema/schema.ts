// The versions of the database schema, and the migrations between them.
import { StoreError } from "../../model/errors.ts";
import { settingChecks } from "./setting-checks.ts";
import { commitFunctions } from "./v1-commit.ts";
import { bucketFunctions, documentFunctions, listingFunctions, processFunctions } from "./v1-functions.ts";
import { tables } from "./v1-tables.ts";
import { putAllFunctions } from "./v2-put-all.ts";
import { outbox } from "./v3-outbox.ts";
import { earlierCommits, protectedCommits } from "./v5-commit.ts";
import { historyFunctions } from "./v5-history.ts";
import { versionListings } from "./v5-listings.ts";
import { historyTables } from "./v5-tables.ts";
import { quotas } from "./v6-quota.ts";
import { replaceBody } from "./v6-replace-body.ts";
import { moreSettings } from "./v6-settings.ts";

/** The migration to each version. Released migrations never change; new ones are appended. */
export const migrations: readonly string[] = [
  [tables, commitFunctions, bucketFunctions, documentFunctions, processFunctions, listingFunctions].join(
    "\n",
  ),
  putAllFunctions,
  outbox,
  settingChecks,
  [historyTables, historyFunctions, protectedCommits, earlierCommits, versionListings].join("\n"),
  [replaceBody, moreSettings, quotas].join("\n"),
];

export const schemaVersion = migrations.length;

export type Run = (text: string, values?: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>;

/** Returns 0 if there is no schema. */
export async function readVersion(run: Run): Promise<number> {
  const [[exists] = []] = await run("SELECT to_regclass('store.version') IS NOT NULL");
  if (exists !== true) return 0;
  const [[number] = []] = await run("SELECT number FROM store.version");
  return Number(number ?? 0);
}

/** Throws if the blob backend belongs to another store. */
export async function checkBackendId(run: Run, backendId: string): Promise<void> {
  const [[expectedId] = []] = await run("SELECT shelf FROM store.version");
  if (expectedId === backendId) return;
  throw new StoreError("InternalError", {
    detail:
      "The database and the blob backend belong to different stores. Check both locations: they must be used together.",
  });
}

/** Throws if this version of Store cannot use the schema. */
export function checkVersion(found: number): void {
  if (found === schemaVersion) return;
  if (found > schemaVersion) throw unknownVersion(found);
  const state = found === 0 ? "no schema of Store yet" : `schema version ${found} of Store`;
  throw new StoreError("InternalError", {
    detail: `The database has ${state}, this Store needs version ${schemaVersion}. Run: store migrate`,
  });
}

/** Migrates in the caller's transaction. A lock makes concurrent callers wait. */
export async function migrate(run: Run, backendId: string): Promise<{ from: number; to: number }> {
  await run("SELECT pg_advisory_xact_lock(hashtextextended('store migrate', 0))");
  const from = await readVersion(run);
  if (from > schemaVersion) throw unknownVersion(from);
  if (from === 0) {
    await checkEncoding(run);
    await run("CREATE SCHEMA IF NOT EXISTS store");
    await run(
      "CREATE TABLE store.version (only_row integer PRIMARY KEY CHECK (only_row = 1), number integer, shelf text)",
    );
    await run("INSERT INTO store.version VALUES (1, 0, NULL)");
  }
  for (const migration of migrations.slice(from)) await run(migration);
  await run("UPDATE store.version SET number = $1, shelf = coalesce(shelf, $2)", [schemaVersion, backendId]);
  await checkBackendId(run, backendId);
  return { from, to: schemaVersion };
}

async function checkEncoding(run: Run): Promise<void> {
  const [[encoding] = []] = await run("SHOW server_encoding");
  if (encoding === "UTF8") return;
  throw new StoreError("InternalError", {
    detail: `The database has the encoding ${String(encoding)}, Store needs UTF8. Create it with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`,
  });
}

function unknownVersion(found: number): StoreError {
  return new StoreError("InternalError", {
    detail: `The database has schema version ${found}, this Store knows ${schemaVersion}. Use a newer Store.`,
  });
}
