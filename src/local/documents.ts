// Documents in the registry's database: read on the serving thread, written through the writer thread.
import type { Document, Documents } from "../engine/records.ts";
import { type Database, inTransaction } from "./database.ts";
import type { Writer } from "./writer.ts";

export function createLocalDocuments(registry: Database, writer: Writer): Documents {
  // Asked for with every request to the S3 API, for its credential; not at all by most who open a store.
  let one: ReturnType<Database["prepare"]> | undefined;
  return {
    async get(kind, name) {
      one ??= registry.prepare("SELECT name, text, revision FROM documents WHERE kind = ? AND name = ?");
      const row = one.get(kind, name) as unknown as Document | undefined;
      return row === undefined ? undefined : { ...row };
    },
    async list(kind) {
      const all = registry.prepare("SELECT name, text, revision FROM documents WHERE kind = ? ORDER BY name");
      return (all.all(kind) as unknown as Document[]).map((row) => ({ ...row }));
    },
    put: (kind, name, text, seen) => writer.putDocument({ kind, name, text, seen }),
    delete: (kind, name) => writer.deleteDocument(kind, name),
  };
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
    registry
      .prepare("REPLACE INTO documents (kind, name, revision, text) SELECT ?, ?, last, ? FROM revisions")
      .run(kind, name, text);
    return "committed";
  });
}

export function deleteDocument(registry: Database, kind: string, name: string): boolean {
  const remove = registry.prepare("DELETE FROM documents WHERE kind = ? AND name = ?");
  return inTransaction(registry, () => Number(remove.run(kind, name).changes) > 0);
}
