// Documents in memory for the history of metrics.
import type { HistoryDocuments } from "../../src/metrics/history-archive.ts";

export function memoryDocuments() {
  const stored = new Map<string, { text: string; revision: number }>();
  let revision = 0;
  const documents: HistoryDocuments = {
    get: async (_, name) => stored.get(name),
    list: async () => [...stored].map(([name, { text }]) => ({ name, text })),
    put: async (_, name, text, expected) => {
      if (stored.get(name)?.revision !== expected) return "conflict";
      stored.set(name, { text, revision: ++revision });
      return "committed";
    },
    delete: async (_, name) => stored.delete(name),
  };
  return { documents, stored };
}
