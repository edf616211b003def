// Documents in the registry's database: read on the serving thread, written by the writer thread.
import type { Document, Documents } from "../engine/records.ts";
import type { Writer } from "./commit/group-commit.ts";
import { existenceKey, lostError } from "./index/existence-index.ts";
import { type Database, inTransaction, type Statement, toDamageError } from "./index/sqlite.ts";
import type { WalChangeCounter } from "./index/wal-change-counter.ts";
import { verifyText } from "./rows/checksum.ts";
import { type DocumentRow, documentContext, documentText } from "./rows/checksummed-rows.ts";

const maxCached = 1000;
const lastCodePoint = "\u{10ffff}";

export interface LocalDocuments extends Documents {
  /** Drops the prepared statement, because it would keep a closed registry open. */
  close(): void;
}

export function createLocalDocuments(
  registry: Database,
  changeCounter: WalChangeCounter,
  writer: Writer,
): LocalDocuments {
  // Documents read since the last commit to the registry. Commits to it are rare.
  const cache = new Map<string, Document | undefined>();
  // Prepared on first use: every S3 request reads a credential, but most scripts read no document.
  let selectOne: Statement<DocumentRow> | undefined;
  return {
    async get(kind, name) {
      // The driver truncates text at NUL and would find a document with the shortened name.
      if (name.includes("\0")) return undefined;
      if (changeCounter.hasChanged() || cache.size >= maxCached) cache.clear();
      const cacheKey = `${kind} ${name}`;
      if (cache.has(cacheKey)) return cache.get(cacheKey);
      const [row] = readRows(() => {
        // A single statement, so that table and existence index are read in one snapshot.
        selectOne ??= registry.prepare(
          "SELECT kind, name, text, revision FROM documents WHERE kind = ? AND name = ? " +
            "UNION ALL SELECT NULL, id, '', 0 FROM witness WHERE place = ?",
        );
        return selectOne.all(kind, name, existenceKey.document(kind, name));
      });
      if (row !== undefined && row.kind === null) throw lostError(`the document "${name}" (${kind})`);
      const document = row === undefined ? undefined : toDocument(row);
      cache.set(cacheKey, document);
      return document;
    },
    async list(kind, prefix = "") {
      const [range, bounds] =
        prefix === "" ? ["", []] : [" AND name >= ? AND name < ?", [prefix, `${prefix}${lastCodePoint}`]];
      const sql = `SELECT kind, name, text, revision FROM documents WHERE kind = ?${range} ORDER BY name`;
      return readRows(() => registry.prepare<DocumentRow>(sql).all(kind, ...bounds)).map(toDocument);
    },
    put: (kind, name, text, expectedRevision) => writer.putDocument({ kind, name, text, expectedRevision }),
    delete: (kind, name, expectedRevision) => writer.deleteDocument({ kind, name, expectedRevision }),
    close() {
      selectOne = undefined;
      cache.clear();
    },
  };
}

function readRows(read: () => DocumentRow[]): DocumentRow[] {
  try {
    return read();
  } catch (error) {
    throw toDamageError(error, "the registry");
  }
}

export function toDocument(row: DocumentRow): Document {
  const { name, revision } = row;
  return { name, revision, text: verifyText(row.text, `the document "${name}"`, documentContext(row)) };
}

export interface DocumentWrite {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
  readonly expectedRevision: number | undefined;
}

export type DocumentDeletion = Omit<DocumentWrite, "text">;

export function putDocument(
  registry: Database,
  { kind, name, text, expectedRevision }: DocumentWrite,
): "committed" | "conflict" {
  return inTransaction(registry, () => {
    if (findRevision(registry, kind, name) !== expectedRevision) return "conflict";
    // The counter is shared by all documents and never reused: a recreated document has a new
    // revision.
    registry.exec("UPDATE revisions SET last = last + 1");
    const { last: revision } = registry.prepare<{ last: number }>("SELECT last FROM revisions").get()!;
    registry
      .prepare("REPLACE INTO documents (kind, name, revision, text) VALUES (?, ?, ?, ?)")
      .run(kind, name, revision, documentText({ kind, name, revision, text }));
    registry
      .prepare("INSERT OR IGNORE INTO witness (place, id) VALUES (?, '')")
      .run(existenceKey.document(kind, name));
    return "committed";
  });
}

function findRevision(registry: Database, kind: string, name: string): number | undefined {
  const sql = "SELECT revision FROM documents WHERE kind = ? AND name = ?";
  return registry.prepare<{ revision: number }>(sql).get(kind, name)?.revision;
}

export function deleteDocument(
  registry: Database,
  { kind, name, expectedRevision }: DocumentDeletion,
): boolean {
  const remove = registry.prepare("DELETE FROM documents WHERE kind = ? AND name = ?");
  const deleteExistence = registry.prepare("DELETE FROM witness WHERE place = ?");
  return inTransaction(registry, () => {
    if (expectedRevision !== undefined && findRevision(registry, kind, name) !== expectedRevision)
      return false;
    const wasPresent = Number(remove.run(kind, name).changes) > 0;
    return Number(deleteExistence.run(existenceKey.document(kind, name)).changes) > 0 || wasPresent;
  });
}
