// Names and sizes of the bodies that a backup needs and that a repository has, in a temporary
// database: a store may have more bodies than fit into memory.
import { rmSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import type { ObjectEntry } from "../../repository/object-store.ts";
import { createPrivateFile } from "../disk/private-files.ts";
import type { Database } from "../index/sqlite.ts";

export interface NamedFile {
  readonly name: string;
  readonly size: number;
}

export interface BodyIndex {
  /** Remembers the objects of a listing. */
  addStored(objects: AsyncIterable<ObjectEntry>): Promise<void>;
  /** Returns the size of a stored object. */
  storedSize(name: string): number | undefined;
  /** Forgets all stored objects. */
  clearStored(): void;
  /** Remembers a file that a backup needs. */
  addNamed(file: NamedFile): void;
  isNamed(name: string): boolean;
  /** Returns the files whose names begin with the prefix, in order. */
  named(prefix: string): Iterable<NamedFile>;
  close(): void;
}

export async function withBodyIndex<T>(path: string, work: (index: BodyIndex) => Promise<T>): Promise<T> {
  const index = createBodyIndex(path);
  try {
    return await work(index);
  } finally {
    index.close();
  }
}

/** Creates a new index; an index that a killed process left at this path is removed. */
function createBodyIndex(path: string): BodyIndex {
  rmSync(path, { force: true });
  createPrivateFile(path);
  const database: Database = new DatabaseSync(path);
  // The index is never read again after a crash, so it needs neither a journal file nor a sync.
  database.exec(
    "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE;" +
      "CREATE TABLE stored (name TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID;" +
      "CREATE TABLE named (name TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID; BEGIN",
  );
  const insertStored = database.prepare("INSERT OR REPLACE INTO stored VALUES (?, ?)");
  const insertNamed = database.prepare("INSERT OR REPLACE INTO named VALUES (?, ?)");
  const findStored = database.prepare<NamedFile>("SELECT size FROM stored WHERE name = ?");
  const findNamed = database.prepare<NamedFile>("SELECT size FROM named WHERE name = ?");
  const range = "SELECT name, size FROM named WHERE name >= ? AND name < ? ORDER BY name";
  return {
    async addStored(objects) {
      for await (const { name, size } of objects) insertStored.run(name, size);
    },
    storedSize: (name) => findStored.get(name)?.size,
    clearStored: () => database.exec("DELETE FROM stored"),
    addNamed: ({ name, size }) => void insertNamed.run(name, size),
    isNamed: (name) => findNamed.get(name) !== undefined,
    named: (prefix) => database.prepare<NamedFile>(range).iterate(prefix, `${prefix}\u{10ffff}`),
    close() {
      database.close();
      rmSync(path, { force: true });
    },
  };
}
