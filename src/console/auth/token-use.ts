// The last use of each token. It is stored apart from the token, so that noting a use never brings a
// revoked token back.
import type { Documents } from "../../engine/records.ts";

export interface TokenUses {
  /** Milliseconds since the epoch. */
  find(id: string): Promise<number | undefined>;
  list(): Promise<ReadonlyMap<string, number>>;
  note(id: string): Promise<void>;
  delete(id: string): Promise<void>;
}

interface StoredUse {
  readonly lastUsed: number;
}

const kind = "console token use";
/** Uses within this time after the last noted use are not stored. */
const useMilliseconds = 60_000;

export function createTokenUses(documents: Documents, now: () => number): TokenUses {
  return {
    async find(id) {
      const document = await documents.get(kind, id);
      return document && parseUse(document.text);
    },
    async list() {
      return new Map((await documents.list(kind)).map(({ name, text }) => [name, parseUse(text)]));
    },
    async note(id) {
      const document = await documents.get(kind, id);
      if (document !== undefined && Math.abs(now() - parseUse(document.text)) < useMilliseconds) return;
      const use: StoredUse = { lastUsed: now() };
      // On a conflict, another process has noted a use at the same time.
      await documents.put(kind, id, JSON.stringify(use), document?.revision);
    },
    async delete(id) {
      await documents.delete(kind, id);
    },
  };
}

function parseUse(text: string): number {
  return (JSON.parse(text) as StoredUse).lastUsed;
}
