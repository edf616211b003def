// The Documents port on PostgreSQL.
import type { Document, Documents } from "../../engine/records.ts";
import type { Row } from "../postgres/connection.ts";
import type { Database } from "../postgres/database.ts";
import { isText } from "../postgres/text.ts";
import { calls, queries } from "./queries.ts";

const lastCodePoint = "\u{10ffff}";

export function createClusterDocuments(database: Database): Documents {
  return {
    async get(kind, name) {
      if (!isText(kind, name)) return undefined;
      const [row] = await database.read(queries.document, [kind, name]);
      return row && toDocument(row);
    },
    async list(kind, prefix = "") {
      const rows =
        prefix === ""
          ? database.read(queries.documents, [kind])
          : database.read(queries.documentsBelow, [kind, prefix, `${prefix}${lastCodePoint}`]);
      return (await rows).map(toDocument);
    },
    async put(kind, name, text, expectedRevision) {
      const outcome = await database.commit(calls.putDocument, [kind, name, text, expectedRevision ?? null]);
      return outcome === "committed" ? "committed" : "conflict";
    },
    async delete(kind, name, expectedRevision) {
      if (!isText(kind, name)) return false;
      const outcome = await (expectedRevision === undefined
        ? database.commit(calls.deleteDocument, [kind, name])
        : database.commit(calls.deleteRevision, [kind, name, expectedRevision]));
      return outcome === "committed";
    },
  };
}

function toDocument([name, text, revision]: Row): Document {
  return { name: String(name), text: String(text), revision: Number(revision) };
}
