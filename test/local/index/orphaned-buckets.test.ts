// Opening removes the folder of a bucket whose creation was interrupted, whatever the state of its
// database.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import { openStore } from "../../../src/index.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";

/** Functions that create the folder as it is after each step of an interrupted creation. */
const states: Readonly<Record<string, (path: string) => void>> = {
  "no database": () => {},
  "an empty file": (path) => writeFileSync(path, ""),
  "a first page, without a log yet": (path) => write(path, "PRAGMA user_version = 0"),
  "a log, and no tables": (path) =>
    write(path, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL"),
};

function write(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

test("the folder of a bucket whose creation was interrupted is removed at the next opening", async (t) => {
  for (const [what, make] of Object.entries(states)) {
    const directory = await temporaryDirectory(t);
    await (await openStore(directory)).close();
    const layout = dataLayout(directory);
    const paths = bucketPaths(layout, "0123456789abcdef");
    for (const folder of [paths.directory, paths.blobs, paths.open, paths.pins]) mkdirSync(folder);
    make(paths.database);
    await (await openStore(directory)).close();
    assert.deepEqual(readdirSync(layout.buckets), [], what);
    assertNothingLeftOver(directory);
  }
});
