// The audit log of a store without a directory: one document per entry, named so that they sort by
// time.
import type { Documents } from "../engine/records.ts";
import type { AuditEntry, AuditLog, LoggedEntry } from "./audit-log.ts";

const kind = "act";

export function createDocumentAuditLog(documents: Documents, random: () => string): AuditLog {
  return {
    async record(entry) {
      // Entries of the same instant get different names; their order does not matter.
      await documents.put(kind, `${entry.time} ${random()}`, JSON.stringify(entry), undefined);
    },
    async *read(after = ""): AsyncGenerator<LoggedEntry> {
      for (const { name, text } of await documents.list(kind)) {
        if (name > after) yield { entry: JSON.parse(text) as AuditEntry, position: name };
      }
    },
  };
}
