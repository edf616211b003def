// Sessions of signed-in users: a random id in a cookie, stored as a hash, valid on every server of
// the store. A session ends at sign-out, and when it or its token expires or the token is revoked.
import { randomBytes } from "node:crypto";
import type { Documents } from "../../engine/records.ts";
import { type ConsoleTokens, hashSecret, matchesHash, parseTokenId } from "./tokens.ts";

export interface Session {
  /** Id of the token that opened the session. */
  readonly by: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

export interface Sessions {
  /** Undefined if the token is invalid, expired or revoked. */
  open(token: string): Promise<{ readonly id: string; readonly session: Session } | undefined>;
  find(id: string): Promise<Session | undefined>;
  /** Whether the token could open a session. */
  isToken(token: string): Promise<boolean>;
  close(id: string): Promise<void>;
}

export interface SessionsOptions {
  readonly documents: Documents;
  readonly tokens: ConsoleTokens;
  /** Hash of a token that only this server accepts; `store dev` prints the token. */
  readonly ownToken?: string | undefined;
  readonly now: () => number;
}

const kind = "console session";
export const sessionMilliseconds = 12 * 3600 * 1000;
/** Id and name of the server's own token. */
const ownTokenHolder = { id: "dev", name: "store dev" };
const idShape = /^[A-Za-z0-9_-]{43}$/;

type StoredSession = Pick<Session, "by" | "expires">;

export function createSessions({ documents, tokens, ownToken, now }: SessionsOptions): Sessions {
  async function findHolder(
    token: string,
  ): Promise<{ readonly id: string; readonly name: string } | undefined> {
    if (parseTokenId(token) === undefined) return undefined;
    if (ownToken !== undefined && matchesHash(ownToken, token)) return ownTokenHolder;
    return tokens.verify(token);
  }

  /** Removes expired sessions. There are few sessions, so a full scan is cheap. */
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
