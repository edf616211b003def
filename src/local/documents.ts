// Documents in the registry's database: read on the serving thread, written through the writer thread.
import type { Document, Documents } from "../engine/records.ts";
import type { Writer } from "./commit/group-commit.ts";
import { verifiedText } from "./index/checksum.ts";
import { type DocumentRow, documentPlace, documentText } from "./index/checksummed-rows.ts";
import { lost, witnessPlace } from "./index/existence-index.ts";
import { type Database, damageOf, inTransaction } from "./index/sqlite.ts";
import type { Glance } from "./index/wal-change-counter.ts";

const mostKnown = 1000;

export interface LocalDocuments extends Documents {
  /** Lets go of the statement that would keep a closed registry open. */
  close(): void;
}

export function createLocalDocuments(registry: Database, glance: Glance, writer: Writer): LocalDocuments {
  // What was read since the last commit to the registry, which is rarely written.
  const known = new Map<string, Document | undefined>();
  // Asked for with every request to the S3 API, for its credential; not at all by most who open a store.
  let one: ReturnType<Database["prepare"]> | undefined;
  return {
    async get(kind, name) {
      // SQLite's driver ends a text at NUL, and would find the document of the name before it.
      if (name.includes("\0")) return undefined;
      if (glance.hasChanged() || known.size >= mostKnown) known.clear();
      const place = `${kind} ${name}`;
      if (known.has(place)) return known.get(place);
      const [row] = reading(() => {
        // Both witnesses in one statement, and so at one instant.
        one ??= registry.prepare(
          "SELECT kind, name, text, revision FROM documents WHERE kind = ? AND name = ? " +
            "UNION ALL SELECT NULL, id, '', 0 FROM witness WHERE place = ?",
        );
        return one.all(kind, name, witnessPlace.document(kind, name));
      });
      if (row !== undefined && row.kind === null) throw lost(`the document "${name}" (${kind})`);
      const document = row === undefined ? undefined : documentOf(row);
      known.set(place, document);
      return document;
    },
    async list(kind) {
      const sql = "SELECT kind, name, text, revision FROM documents WHERE kind = ? ORDER BY name";
      return reading(() => registry.prepare(sql).all(kind)).map(documentOf);
    },
    put: (kind, name, text, seen) => writer.putDocument({ kind, name, text, seen }),
    delete: (kind, name) => writer.deleteDocument(kind, name),
    close() {
      one = undefined;
      known.clear();
    },
  };
}

function reading(read: () => unknown[]): DocumentRow[] {
  try {
    return read() as DocumentRow[];
  } catch (error) {
    throw damageOf(error, "the registry");
  }
}

export function documentOf(row: DocumentRow): Document {
  const { name, revision } = row;
  return { name, revision, text: verifiedText(row.text, `the document "${name}"`, documentPlace(row)) };
}

export interface DocumentWrite {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
  readonly seen: number | undefined;
}

export function putDocument(
  registry: Database,
  { kind, name, text, seen }: DocumentWrite,
): "committed" | "conflict" {
  return inTransaction(registry, () => {
    const find = registry.prepare("SELECT revision FROM documents WHERE kind = ? AND name = ?");
    const current = find.get(kind, name) as { revision: number } | undefined;
    if (current?.revision !== seen) return "conflict";
    // Counted over all documents and never again, so that one made anew is not taken for the one before.
    registry.exec("UPDATE revisions SET last = last + 1");
    const { revision } = registry.prepare("SELECT last AS revision FROM revisions").get() as {
      revision: number;
    };
    registry
      .prepare("REPLACE INTO documents (kind, name, revision, text) VALUES (?, ?, ?, ?)")
      .run(kind, name, revision, documentText({ kind, name, revision, text }));
    registry
      .prepare("INSERT OR IGNORE INTO witness (place, id) VALUES (?, '')")
      .run(witnessPlace.document(kind, name));
    return "committed";
  });
}

export function deleteDocument(registry: Database, kind: string, name: string): boolean {
  const remove = registry.prepare("DELETE FROM documents WHERE kind = ? AND name = ?");
  const strike = registry.prepare("DELETE FROM witness WHERE place = ?");
  return inTransaction(registry, () => {
    const isThere = Number(remove.run(kind, name).changes) > 0;
    return Number(strike.run(witnessPlace.document(kind, name)).changes) > 0 || isThere;
  });
}
