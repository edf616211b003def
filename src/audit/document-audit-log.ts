// The acts of a store that has no directory: a document each, named so that they are in the order of time.

import type { Documents } from "../engine/records.ts";
import type { Act, ActLog, NotedAct } from "./audit-log.ts";

const kind = "act";

export function createDocumentActs(documents: Documents, random: () => string): ActLog {
  return {
    async note(act) {
      // Two of the same time have different names, and which of them is first does not matter.
      await documents.put(kind, `${act.time} ${random()}`, JSON.stringify(act), undefined);
    },
    async *read(after = ""): AsyncGenerator<NotedAct> {
      for (const { name, text } of await documents.list(kind)) {
        if (name > after) yield { act: JSON.parse(text) as Act, place: name };
      }
    },
  };
}
