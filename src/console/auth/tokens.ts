// Sign-in tokens of the console: created on the command line, shown once, stored as hashes. A token
// has 256 random bits, so a fast hash is secure.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Documents } from "../../engine/records.ts";
import { fullPermissions, type Permissions } from "./roles.ts";

export interface TokenInfo {
  readonly id: string;
  /** Name chosen by the creator of the token. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number | undefined;
  readonly state: "active" | "expired";
  /** Owner of the token, whose permissions count; undefined if the token has its own. */
  readonly user: string | undefined;
  /** Ignored if the token belongs to a user. */
  readonly permissions: Permissions;
  /** Last sign-in or other use, exact to a minute. */
  readonly lastUsed: number | undefined;
}

export interface NewTokenOptions {
  readonly name: string;
  readonly expires?: number | undefined;
  readonly user?: string | undefined;
  /** Default: everything. */
  readonly permissions?: Permissions | undefined;
}

export interface NewToken {
  readonly info: TokenInfo;
  /** The secret token. It is shown once; only its hash is stored. */
  readonly token: string;
}

export interface ConsoleTokens {
  create(options: NewTokenOptions): Promise<NewToken>;
  /** Returns the tokens, oldest first. */
  list(): Promise<TokenInfo[]>;
  /** False if the token does not exist. */
  revoke(id: string): Promise<boolean>;
  /** Revokes all tokens of a user. */
  revokeOf(user: string): Promise<void>;
  find(id: string): Promise<TokenInfo | undefined>;
  /** Returns the token if it is valid, and notes its use; undefined if it is unknown, expired or revoked. */
  verify(token: string): Promise<TokenInfo | undefined>;
}

/** The stored form of a token. */
interface StoredToken {
  readonly name: string;
  readonly created: number;
  readonly expires?: number;
  readonly hash: string;
  readonly user?: string;
  /** Missing in tokens that were stored before there were roles: these are administrators. */
  readonly permissions?: Permissions;
  readonly lastUsed?: number;
}

/** Uses within this time after the last noted use are not stored. */
const useMilliseconds = 60_000;

const kind = "console token";
const idShape = /^[a-z2-7]{10}$/;
const tokenShape = /^sct-([a-z2-7]{10})-[A-Za-z0-9_-]{43}$/;

export function createTokens(documents: Documents, now: () => number): ConsoleTokens {
  async function read(id: string) {
    const document = idShape.test(id) ? await documents.get(kind, id) : undefined;
    if (document === undefined) return undefined;
    return { stored: JSON.parse(document.text) as StoredToken, revision: document.revision };
  }

  /** A concurrent change is not overwritten, so that a revoked token stays revoked. */
  async function noteUse(id: string, stored: StoredToken, revision: number): Promise<void> {
    if (stored.lastUsed !== undefined && Math.abs(now() - stored.lastUsed) < useMilliseconds) return;
    await documents.put(kind, id, JSON.stringify({ ...stored, lastUsed: now() }), revision);
  }

  return {
    async create({ name, expires, user, permissions }) {
      for (;;) {
        const { id, token, hash } = newToken();
        const stored: StoredToken = {
          name,
          created: now(),
          ...(expires === undefined ? {} : { expires }),
          hash,
          ...(user === undefined ? {} : { user }),
          ...(permissions === undefined ? {} : { permissions }),
        };
        const outcome = await documents.put(kind, id, JSON.stringify(stored), undefined);
        if (outcome === "committed") return { info: toTokenInfo(id, stored, now()), token };
      }
    },
    async list() {
      const all = (await documents.list(kind)).map(({ name, text }) =>
        toTokenInfo(name, JSON.parse(text) as StoredToken, now()),
      );
      return all.sort((a, b) => a.created - b.created);
    },
    async revoke(id) {
      return idShape.test(id) && (await documents.delete(kind, id));
    },
    async revokeOf(user) {
      for (const { name, text } of await documents.list(kind))
        if ((JSON.parse(text) as StoredToken).user === user) await documents.delete(kind, name);
    },
    async find(id) {
      const found = await read(id);
      return found && toTokenInfo(id, found.stored, now());
    },
    async verify(token) {
      const id = parseTokenId(token);
      const found = id === undefined ? undefined : await read(id);
      if (id === undefined || found === undefined || !matchesHash(found.stored.hash, token)) return undefined;
      const info = toTokenInfo(id, found.stored, now());
      if (info.state !== "active") return undefined;
      await noteUse(id, found.stored, found.revision);
      return info;
    },
  };
}

/** Creates a token and its hash. */
export function newToken(): { readonly id: string; readonly token: string; readonly hash: string } {
  const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
  const id = Array.from(randomBytes(10), (byte) => alphabet[byte & 31]).join("");
  const token = `sct-${id}-${randomBytes(32).toString("base64url")}`;
  return { id, token, hash: hashSecret(token) };
}

/** Returns the public id in a token; undefined for a malformed token. */
export function parseTokenId(token: string): string | undefined {
  return tokenShape.exec(token)?.[1];
}

/** Returns the SHA-256 hash in hex. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares the hash of `secret` with `hash`, in constant time. */
export function matchesHash(hash: string, secret: string): boolean {
  return timingSafeEqual(Buffer.from(hash, "hex"), Buffer.from(hashSecret(secret), "hex"));
}

function toTokenInfo(id: string, stored: StoredToken, now: number): TokenInfo {
  const { name, created, expires, user, permissions = fullPermissions, lastUsed } = stored;
  const state = expires !== undefined && expires <= now ? "expired" : "active";
  return { id, name, created, expires, state, user, permissions, lastUsed };
}
