// Sign-in tokens of the console: created on the command line, shown once, stored as hashes. A token
// has 256 random bits, so a fast hash is secure.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Documents } from "../../engine/records.ts";
import { isFields } from "../../model/shape.ts";
import { parseDocument } from "../../model/stored-document.ts";
import { fullPermissions, isPermissions, type Permissions } from "./roles.ts";
import { createTokenUses } from "./token-use.ts";

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
}

const kind = "console token";
const maxNameLength = 60;
export const tokenNameRule = `1 to ${maxNameLength} characters on one line`;

export function isTokenName(name: string): boolean {
  return name.trim() !== "" && name.length <= maxNameLength && !/\p{Cc}/u.test(name);
}

const idShape = /^[a-z2-7]{10}$/;
const tokenShape = /^sct-([a-z2-7]{10})-[A-Za-z0-9_-]{43}$/;

export function createTokens(documents: Documents, now: () => number): ConsoleTokens {
  const uses = createTokenUses(documents, now);
  async function read(id: string): Promise<StoredToken | undefined> {
    const document = idShape.test(id) ? await documents.get(kind, id) : undefined;
    return document && parseToken(document.text);
  }

  async function remove(id: string): Promise<boolean> {
    const isDeleted = await documents.delete(kind, id);
    await uses.delete(id);
    return isDeleted;
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
        if (outcome === "committed") return { info: toTokenInfo(id, stored, { now: now() }), token };
      }
    },
    async list() {
      const lastUses = await uses.list();
      const all = (await documents.list(kind)).map(({ name, text }) =>
        toTokenInfo(name, parseToken(text), { now: now(), lastUsed: lastUses.get(name) }),
      );
      return all.sort((a, b) => a.created - b.created);
    },
    async revoke(id) {
      return idShape.test(id) && (await remove(id));
    },
    async revokeOf(user) {
      for (const { name, text } of await documents.list(kind))
        if (parseToken(text).user === user) await remove(name);
    },
    async find(id) {
      const stored = await read(id);
      return stored && toTokenInfo(id, stored, { now: now(), lastUsed: await uses.find(id) });
    },
    async verify(token) {
      const id = parseTokenId(token);
      const stored = id === undefined ? undefined : await read(id);
      if (id === undefined || stored === undefined || !matchesHash(stored.hash, token)) return undefined;
      const info = toTokenInfo(id, stored, { now: now() });
      if (info.state !== "active") return undefined;
      await uses.note(id);
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

function toTokenInfo(
  id: string,
  stored: StoredToken,
  { now, lastUsed }: { readonly now: number; readonly lastUsed?: number | undefined },
): TokenInfo {
  const { name, created, expires, user, permissions = fullPermissions } = stored;
  const state = expires !== undefined && expires <= now ? "expired" : "active";
  return { id, name, created, expires, state, user, permissions, lastUsed };
}

function parseToken(text: string): StoredToken {
  return parseDocument(text, "A sign-in token of the console", (value): value is StoredToken => {
    if (!isFields(value)) return false;
    const { name, created, expires, hash, user, permissions } = value;
    return (
      [name, hash].every((one) => typeof one === "string") &&
      Number.isFinite(created) &&
      (expires === undefined || Number.isFinite(expires)) &&
      (user === undefined || typeof user === "string") &&
      (permissions === undefined || isPermissions(permissions))
    );
  });
}
