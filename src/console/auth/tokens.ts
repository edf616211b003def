// Administrator tokens of the console: created on the command line, shown once, stored as hashes. A
// token has 256 random bits, so a fast hash is secure.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Documents } from "../../engine/records.ts";

export interface TokenInfo {
  readonly id: string;
  /** Name chosen by the creator of the token. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number | undefined;
  readonly state: "active" | "expired";
}

export interface NewToken {
  readonly info: TokenInfo;
  /** The secret token. It is shown once; only its hash is stored. */
  readonly token: string;
}

export interface ConsoleTokens {
  create(options: { readonly name: string; readonly expires?: number | undefined }): Promise<NewToken>;
  /** Returns the tokens, oldest first. */
  list(): Promise<TokenInfo[]>;
  /** False if the token does not exist. */
  revoke(id: string): Promise<boolean>;
  find(id: string): Promise<TokenInfo | undefined>;
  /** Returns the token if it is valid; undefined if it is unknown, expired or revoked. */
  verify(token: string): Promise<TokenInfo | undefined>;
}

/** The stored form of a token. */
interface StoredToken {
  readonly name: string;
  readonly created: number;
  readonly expires?: number;
  readonly hash: string;
}

const kind = "console token";
const idShape = /^[a-z2-7]{10}$/;
const tokenShape = /^sct-([a-z2-7]{10})-[A-Za-z0-9_-]{43}$/;

export function createTokens(documents: Documents, now: () => number): ConsoleTokens {
  async function read(id: string): Promise<StoredToken | undefined> {
    const document = idShape.test(id) ? await documents.get(kind, id) : undefined;
    return document === undefined ? undefined : (JSON.parse(document.text) as StoredToken);
  }
  return {
    async create({ name, expires }) {
      for (;;) {
        const { id, token, hash } = newToken();
        const stored: StoredToken = {
          name,
          created: now(),
          ...(expires === undefined ? {} : { expires }),
          hash,
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
    async find(id) {
      const stored = await read(id);
      return stored === undefined ? undefined : toTokenInfo(id, stored, now());
    },
    async verify(token) {
      const id = parseTokenId(token);
      const stored = id === undefined ? undefined : await read(id);
      if (id === undefined || stored === undefined || !matchesHash(stored.hash, token)) return undefined;
      const info = toTokenInfo(id, stored, now());
      return info.state === "active" ? info : undefined;
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

function toTokenInfo(id: string, { name, created, expires }: StoredToken, now: number): TokenInfo {
  const state = expires !== undefined && expires <= now ? "expired" : "active";
  return { id, name, created, expires, state };
}
