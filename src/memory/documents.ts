// Documents in memory.
import type { Document, Documents } from "../engine/records.ts";
import { SortedMap } from "./sorted-map.ts";

export function createMemoryDocuments(): Documents {
  const kinds = new Map<string, SortedMap<Document>>();
  let revision = 0;

  function getKind(kind: string): SortedMap<Document> {
    const documents = kinds.get(kind) ?? new SortedMap<Document>();
    kinds.set(kind, documents);
    return documents;
  }

  return {
    async get(kind, name) {
      return getKind(kind).get(name);
    },
    async list(kind, prefix = "") {
      const found: Document[] = [];
      for (const [name, document] of getKind(kind).from(prefix)) {
        if (!name.startsWith(prefix)) break;
        found.push(document);
      }
      return found;
    },
    async put(kind, name, text, expectedRevision) {
      const documents = getKind(kind);
      if (documents.get(name)?.revision !== expectedRevision) return "conflict";
      documents.set(name, { name, text, revision: ++revision });
      return "committed";
    },
    async delete(kind, name, expectedRevision) {
      const documents = getKind(kind);
      const document = documents.get(name);
      if (document === undefined || document.revision !== (expectedRevision ?? document.revision))
        return false;
      documents.delete(name);
      return true;
    },
  };
}
