// The acts of a store that has no directory: a document each, named so that they are in the order of time.

import type { Documents } from "../engine/records.ts";
import type { AuditEntry, AuditLog, LoggedEntry } from "./audit-log.ts";

const kind = "act";

export function createDocumentAuditLog(documents: Documents, random: () => string): AuditLog {
  return {
    async record(entry) {
      // Two of the same time have different names, and which of them is first does not matter.
      await documents.put(kind, `${entry.time} ${random()}`, JSON.stringify(entry), undefined);
    },
    async *read(after = ""): AsyncGenerator<LoggedEntry> {
      for (const { name, text } of await documents.list(kind)) {
        if (name > after) yield { entry: JSON.parse(text) as AuditEntry, position: name };
      }
    },
  };
}
