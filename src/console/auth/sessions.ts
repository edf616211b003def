// Who is signed in. A session is a random id in a cookie; the store keeps its hash, so that every server of a store
// knows it and what is at rest opens nothing. It ends by itself, by signing out, and with the token it came from.
import { randomBytes } from "node:crypto";
import type { Documents } from "../../engine/records.ts";
import { type ConsoleTokens, hashSecret, matchesHash, parseTokenId } from "./tokens.ts";

export interface Session {
  /** The id of the token it was opened with. */
  readonly by: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

export interface Sessions {
  /** Undefined when the token is none, or none any more. */
  open(token: string): Promise<{ readonly id: string; readonly session: Session } | undefined>;
  find(id: string): Promise<Session | undefined>;
  /** Whether a session could be opened with the token. */
  isToken(token: string): Promise<boolean>;
  close(id: string): Promise<void>;
}

export interface SessionsOptions {
  readonly documents: Documents;
  readonly tokens: ConsoleTokens;
  /** The hash of a token that only this server knows, as `dev` prints one. */
  readonly ownToken?: string | undefined;
  readonly now: () => number;
}

const kind = "console session";
export const sessionMilliseconds = 12 * 3600 * 1000;
/** Whom the server's own token stands for. */
const ownTokenHolder = { id: "dev", name: "store dev" };
const idShape = /^[A-Za-z0-9_-]{43}$/;

interface StoredSession {
  readonly by: string;
  readonly expires: number;
}

export function createSessions({ documents, tokens, ownToken, now }: SessionsOptions): Sessions {
  async function findHolder(
    token: string,
  ): Promise<{ readonly id: string; readonly name: string } | undefined> {
    if (parseTokenId(token) === undefined) return undefined;
    if (ownToken !== undefined && matchesHash(ownToken, token)) return ownTokenHolder;
    return tokens.verify(token);
  }

  /** Those that are over; there are as many as people who signed in, so a look at all costs little. */
  async function deleteExpired(): Promise<void> {
    for (const { name, text } of await documents.list(kind)) {
      if ((JSON.parse(text) as StoredSession).expires <= now()) await documents.delete(kind, name);
    }
  }

  return {
    async open(token) {
      const holder = await findHolder(token);
      if (holder === undefined) return undefined;
      await deleteExpired();
      const id = randomBytes(32).toString("base64url");
      const stored: StoredSession = { by: holder.id, expires: now() + sessionMilliseconds };
      await documents.put(kind, hashSecret(id), JSON.stringify(stored), undefined);
      return { id, session: { ...stored, name: holder.name } };
    },
    async find(id) {
      const document = idShape.test(id) ? await documents.get(kind, hashSecret(id)) : undefined;
      if (document === undefined) return undefined;
      const { by, expires } = JSON.parse(document.text) as StoredSession;
      if (expires <= now()) return undefined;
      if (by === ownTokenHolder.id)
        return ownToken === undefined ? undefined : { by, name: ownTokenHolder.name, expires };
      const token = await tokens.find(by);
      return token?.state === "active" ? { by, name: token.name, expires } : undefined;
    },
    isToken: async (token) => (await findHolder(token)) !== undefined,
    async close(id) {
      if (idShape.test(id)) await documents.delete(kind, hashSecret(id));
    },
  };
}
