// Sessions of signed-in users: a random id in a cookie, stored as a hash, valid on every server of
// the store. Name and permissions are read for every request, so that changes take effect at once.
import { randomBytes } from "node:crypto";
import type { Document, Documents } from "../../engine/records.ts";
import { isFields } from "../../model/shape.ts";
import { parseDocument } from "../../model/stored-document.ts";
import { fullPermissions, hasNoPermissions, type Permissions } from "./roles.ts";
import { type ConsoleTokens, hashSecret, matchesHash, parseTokenId } from "./tokens.ts";
import type { ConsoleUsers } from "./users.ts";

export interface Session {
  /** Public id, with which the session is listed and ended. It cannot be used to sign in. */
  readonly publicId: string;
  /** Id of the token, or name of the provider, that opened the session. */
  readonly by: string;
  readonly name: string;
  /** Equal for all sessions of the same user. */
  readonly owner: string;
  readonly permissions: Permissions;
  /** Milliseconds since the epoch; undefined for a session of an earlier release. */
  readonly created: number | undefined;
  readonly expires: number;
  /** The client that signed in. */
  readonly address: string | undefined;
  readonly provider: string | undefined;
}

/** A user whom an OpenID provider has identified. */
export interface ProviderIdentity {
  readonly provider: string;
  readonly subject: string;
  readonly name: string;
  readonly groups: readonly string[];
}

export interface OpenedSession {
  /** The secret id for the cookie. */
  readonly id: string;
  readonly session: Session;
}

export interface Sessions {
  /** Undefined if the token is invalid, expired or revoked. */
  open(token: string, address?: string): Promise<OpenedSession | undefined>;
  /** Undefined if no group of the user has a role. */
  openFor(identity: ProviderIdentity, address?: string): Promise<OpenedSession | undefined>;
  find(id: string): Promise<Session | undefined>;
  /** Returns the permissions of a token; undefined if the token could not open a session. */
  findPermissions(token: string): Promise<Permissions | undefined>;
  close(id: string): Promise<void>;
  /** Returns the sessions that are valid now, newest first. */
  list(): Promise<Session[]>;
  /** Finds a session by its public id. */
  describe(publicId: string): Promise<Session | undefined>;
  /** Ends a session by its public id. False if there is no such session. */
  end(publicId: string): Promise<boolean>;
}

export interface SessionsOptions {
  readonly documents: Documents;
  readonly tokens: ConsoleTokens;
  readonly users: Pick<ConsoleUsers, "find">;
  /** Hash of a token that only this server accepts; `store dev` prints the token. */
  readonly ownToken?: string | undefined;
  /** Permissions of a provider's groups; undefined for an unknown provider. */
  readonly groupPermissions?:
    | ((provider: string, groups: readonly string[]) => Permissions | undefined)
    | undefined;
  readonly now: () => number;
}

const kind = "console session";
/** The same sessions by the hash of their opener: a sign-in does not read those of all others. */
const indexKind = "session of opener";
const sweepMilliseconds = 600_000;
export const sessionMilliseconds = 12 * 3600 * 1000;
/** Difference between the clocks of servers, and between two settings of one, that ends no session. */
const clockSkewMilliseconds = 15 * 60_000;
/** Open sessions of one token or provider's user. A further sign-in ends the oldest. */
export const maxSessions = 100;
const idShape = /^[A-Za-z0-9_-]{43}$/;
const publicIdLength = 16;
const publicIdShape = /^[0-9a-f]{16}$/;

interface StoredSession {
  readonly by: string;
  readonly expires: number;
  readonly created?: number;
  readonly address?: string;
  readonly identity?: ProviderIdentity;
}

/** Who a session belongs to, as it is now. */
type Holder = Pick<Session, "by" | "name" | "owner" | "permissions" | "provider">;

/** Identifies the token or the provider's user that opened a session. */
function openerOf({ by, identity }: Pick<StoredSession, "by" | "identity">): string {
  return identity === undefined ? by : `${by} ${identity.subject}`;
}

function indexName(opener: string, hash: string): string {
  return `${hashSecret(opener)}/${hash}`;
}

/** The server's own token. */
const ownHolder: Holder = {
  ...{ by: "dev", name: "store dev", owner: "token dev" },
  ...{ permissions: fullPermissions, provider: undefined },
};

export function createSessions(options: SessionsOptions): Sessions {
  const { documents, tokens, users, ownToken, groupPermissions, now } = options;
  /** Time at which all expired sessions were removed. */
  let swept = Number.NEGATIVE_INFINITY;

  async function findHolder(token: string): Promise<Holder | undefined> {
    if (parseTokenId(token) === undefined) return undefined;
    if (ownToken !== undefined && matchesHash(ownToken, token)) return ownHolder;
    const info = await tokens.verify(token);
    return info && tokenHolder(info.id);
  }

  async function tokenHolder(id: string): Promise<Holder | undefined> {
    const token = await tokens.find(id);
    if (token?.state !== "active") return undefined;
    const shared = { by: id, provider: undefined };
    if (token.user === undefined)
      return { ...shared, name: token.name, owner: `token ${id}`, permissions: token.permissions };
    const user = await users.find(token.user);
    if (user === undefined) return undefined;
    return { ...shared, name: user.name, owner: `user ${user.name}`, permissions: user.permissions };
  }

  function identityHolder({ provider, subject, name, groups }: ProviderIdentity): Holder | undefined {
    const permissions = groupPermissions?.(provider, groups);
    if (permissions === undefined || hasNoPermissions(permissions)) return undefined;
    return { by: provider, name, owner: `provider ${provider} ${subject}`, permissions, provider };
  }

  async function currentHolder({ by, identity }: StoredSession): Promise<Holder | undefined> {
    if (identity !== undefined) return identityHolder(identity);
    if (by === ownHolder.by) return ownToken === undefined ? undefined : ownHolder;
    return tokenHolder(by);
  }

  /** Also ends a session that was opened in the future: the clock has been set back since. */
  function hasEnded(expires: number): boolean {
    const left = expires - now();
    return left <= 0 || left > sessionMilliseconds + clockSkewMilliseconds;
  }

  async function toSession(
    hash: string,
    stored: StoredSession,
    findCurrent = currentHolder,
  ): Promise<Session | undefined> {
    if (hasEnded(stored.expires)) return undefined;
    const holder = await findCurrent(stored);
    if (holder === undefined) return undefined;
    const { created, expires, address } = stored;
    return { ...holder, publicId: hash.slice(0, publicIdLength), created, expires, address };
  }

  /** Removes expired sessions, and the oldest of this opener: programs sign in and never out. */
  async function deleteOld(opener: string): Promise<void> {
    const prefix = indexName(opener, "");
    const own = (await documents.list(indexKind, prefix)).map(({ name, text }) => ({
      hash: name.slice(prefix.length),
      expires: Number(text),
    }));
    own.sort((a, b) => b.expires - a.expires);
    for (const [index, { hash, expires }] of own.entries())
      if (hasEnded(expires) || index >= maxSessions - 1) await remove(opener, hash);
    if (Math.abs(now() - swept) < sweepMilliseconds) return;
    swept = now();
    for (const { name, text } of await documents.list(kind)) {
      const stored = parseSession(text);
      if (hasEnded(stored.expires)) await remove(openerOf(stored), name);
    }
  }

  async function findDocument(publicId: string): Promise<Document | undefined> {
    return publicIdShape.test(publicId) ? (await documents.list(kind, publicId))[0] : undefined;
  }

  async function remove(opener: string, hash: string): Promise<boolean> {
    await documents.delete(indexKind, indexName(opener, hash));
    return documents.delete(kind, hash);
  }

  async function openSession(holder: Holder, given: Pick<StoredSession, "address" | "identity">) {
    await deleteOld(openerOf({ by: holder.by, ...given }));
    const id = randomBytes(32).toString("base64url");
    const times = { created: now(), expires: now() + sessionMilliseconds };
    const stored: StoredSession = { by: holder.by, ...times, ...given };
    const hash = hashSecret(id);
    await documents.put(kind, hash, JSON.stringify(stored), undefined);
    await documents.put(indexKind, indexName(openerOf(stored), hash), String(times.expires), undefined);
    const session = { ...holder, ...times, address: given.address };
    return { id, session: { ...session, publicId: hash.slice(0, publicIdLength) } };
  }

  return {
    async open(token, address) {
      const holder = await findHolder(token);
      return holder && openSession(holder, address === undefined ? {} : { address });
    },
    async openFor(identity, address) {
      const holder = identityHolder(identity);
      return holder && openSession(holder, { identity, ...(address === undefined ? {} : { address }) });
    },
    async find(id) {
      const hash = hashSecret(id);
      const document = idShape.test(id) ? await documents.get(kind, hash) : undefined;
      return document && toSession(hash, parseSession(document.text));
    },
    findPermissions: async (token) => (await findHolder(token))?.permissions,
    async close(id) {
      const document = idShape.test(id) ? await documents.get(kind, hashSecret(id)) : undefined;
      if (document !== undefined) await remove(openerOf(parseSession(document.text)), document.name);
    },
    async list() {
      const all: Session[] = [];
      // Of many sessions of a token, its holder is read once.
      const ofTokens = new Map<string, Promise<Holder | undefined>>();
      const findCurrent = (stored: StoredSession) => {
        if (stored.identity !== undefined) return currentHolder(stored);
        const holder = ofTokens.get(stored.by) ?? currentHolder(stored);
        ofTokens.set(stored.by, holder);
        return holder;
      };
      for (const { name, text } of await documents.list(kind)) {
        const session = await toSession(name, parseSession(text), findCurrent);
        if (session !== undefined) all.push(session);
      }
      return all.sort((a, b) => b.expires - a.expires);
    },
    async describe(publicId) {
      const found = await findDocument(publicId);
      return found && toSession(found.name, parseSession(found.text));
    },
    async end(publicId) {
      const found = await findDocument(publicId);
      return found !== undefined && (await remove(openerOf(parseSession(found.text)), found.name));
    },
  };
}

function parseSession(text: string): StoredSession {
  return parseDocument(text, "A session of the console", (value): value is StoredSession => {
    if (!isFields(value)) return false;
    const { by, expires, created, address, identity } = value;
    return (
      typeof by === "string" &&
      Number.isFinite(expires) &&
      (created === undefined || Number.isFinite(created)) &&
      (address === undefined || typeof address === "string") &&
      (identity === undefined || isIdentity(identity))
    );
  });
}

function isIdentity(value: unknown): value is ProviderIdentity {
  if (!isFields(value)) return false;
  const { provider, subject, name, groups } = value;
  const texts = Array.isArray(groups) ? [provider, subject, name, ...(groups as unknown[])] : [undefined];
  return texts.every((text) => typeof text === "string");
}
