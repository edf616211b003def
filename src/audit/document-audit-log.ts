// The audit log of a store without a directory: one document per entry. The names of the documents
// start with the time, so they sort by time.
import type { Documents } from "../engine/records.ts";
import type { AuditEntry, AuditLog, LoggedEntry } from "./audit-log.ts";

const kind = "act";

export function createDocumentAuditLog(documents: Documents, random: () => string): AuditLog {
  return {
    async record(entry) {
      // A random suffix, so that entries with the same time have different names.
      await documents.put(kind, `${entry.time} ${random()}`, JSON.stringify(entry), undefined);
    },
    async *read(after = ""): AsyncGenerator<LoggedEntry> {
      for (const { name, text } of await documents.list(kind)) {
        if (name > after) yield { entry: JSON.parse(text) as AuditEntry, position: name };
      }
    },
  };
}
