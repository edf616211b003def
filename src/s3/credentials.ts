// Access keys of the S3 API. A signature is checked with the secret itself and not with a hash of it, so the
// secret is kept, sealed under the store's secret key. When a key was last used is kept apart.
import { createHash, randomBytes } from "node:crypto";
import type { Document, Documents } from "../engine/records.ts";
import { checkBucketName, defaultAccount } from "../model/bucket.ts";
import { seal, unseal } from "../model/seal.ts";
import type { Grant } from "./grants.ts";
import { forgetUse, writtenUses } from "./key-uses.ts";

export { allows, type Grant, parseDuration, parseGrant, type Right } from "./grants.ts";

/** What is told of a key to anybody who may list them. */
export interface CredentialInfo {
  readonly accessKeyId: string;
  readonly account: string;
  /** Undefined for everything of the account. */
  readonly grants: readonly Grant[] | undefined;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number | undefined;
  readonly state: "active" | "disabled" | "expired";
  /** Until when the secret before the last rotation is taken too. */
  readonly previousUntil: number | undefined;
}

export interface ListedCredential extends CredentialInfo {
  /** Within an hour; undefined for never. */
  readonly lastUsed: number | undefined;
}

export interface Credential extends CredentialInfo {
  readonly secretAccessKey: string;
  /** Every secret a signature may be made with now, the newest first. */
  readonly secrets: readonly string[];
}

export interface NewCredential {
  readonly account?: string | undefined;
  readonly grants?: readonly Grant[] | undefined;
  /** Milliseconds since the epoch. */
  readonly expires?: number | undefined;
}

export interface Credentials {
  create(options?: NewCredential): Promise<Credential>;
  /** By account, then by age. */
  list(): Promise<ListedCredential[]>;
  /** Whatever its state: whoever asks decides what to answer. */
  find(accessKeyId: string): Promise<Credential | undefined>;
  /** These four: false or undefined when there is no such key. */
  delete(accessKeyId: string): Promise<boolean>;
  disable(accessKeyId: string): Promise<boolean>;
  enable(accessKeyId: string): Promise<boolean>;
  /** Gives it a new secret; the one before is taken for as many milliseconds more. */
  rotate(accessKeyId: string, keepPrevious?: number): Promise<Credential | undefined>;
}

/** A key that cannot be made, or one that cannot be opened; the message never holds a secret. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";
}

/** As kept: the secrets sealed, everything else readable. */
interface Stored {
  readonly account: string;
  readonly grants?: readonly Grant[];
  readonly created: number;
  readonly expires?: number;
  readonly disabled?: true;
  readonly secret: string;
  readonly previous?: { readonly secret: string; readonly until: number };
}

const kind = "credential";
const mostKnown = 1000;
const accessKeyShape = /^STORE[A-Z2-7]{15}$/;
const accountShape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function createCredentials(documents: Documents, key: Uint8Array, now: () => number): Credentials {
  function read(accessKeyId: string): Promise<Document | undefined> {
    return accessKeyShape.test(accessKeyId) ? documents.get(kind, accessKeyId) : Promise.resolve(undefined);
  }

  /** What the change makes of a key, committed on what it was; undefined when there is none. */
  async function update(
    accessKeyId: string,
    change: (stored: Stored) => Stored,
  ): Promise<Stored | undefined> {
    for (;;) {
      const document = await read(accessKeyId);
      if (document === undefined) return undefined;
      const changed = change(storedOf(document));
      const text = JSON.stringify(changed);
      if ((await documents.put(kind, accessKeyId, text, document.revision)) === "committed") return changed;
    }
  }

  /** By what they were sealed to: opening one costs as much as the rest of a small request. */
  const known = new Map<string, string>();

  function opened(accessKeyId: string, sealed: string): string {
    const name = `${accessKeyId} ${sealed}`;
    const secret = known.get(name) ?? unseal(key, [kind, accessKeyId], sealed);
    if (secret !== undefined) {
      if (known.size >= mostKnown) known.clear();
      known.set(name, secret);
      return secret;
    }
    throw new CredentialError(
      `The access key ${accessKeyId} was sealed under another key than the one in use.\n` +
        "  Put back the file secret.key of the data directory, or the STORE_SECRET_KEY, that it was made with,\n" +
        `  or delete it with: store key delete ${accessKeyId}`,
    );
  }

  /** Those that are the same at any time, by what they were made of. */
  const lasting = new WeakMap<Stored, Credential>();

  function whole(accessKeyId: string, stored: Stored): Credential {
    const before = lasting.get(stored);
    if (before !== undefined) return before;
    const made = wholeNow(accessKeyId, stored);
    if (stored.expires === undefined && stored.previous === undefined) lasting.set(stored, made);
    return made;
  }

  function wholeNow(accessKeyId: string, stored: Stored): Credential {
    const info = infoOf(accessKeyId, stored, now());
    const secretAccessKey = opened(accessKeyId, stored.secret);
    const previous = info.previousUntil === undefined ? [] : [opened(accessKeyId, stored.previous!.secret)];
    return { ...info, secretAccessKey, secrets: [secretAccessKey, ...previous] };
  }

  return {
    async create({ account = defaultAccount, grants, expires } = {}) {
      checkAccount(account);
      for (const { bucket } of grants ?? []) checkGranted(bucket);
      const created = now();
      if (expires !== undefined && !(expires > created)) {
        throw new CredentialError(
          "The access key would have expired already: give it a time that is to come.",
        );
      }
      for (;;) {
        const accessKeyId = newAccessKeyId();
        const stored: Stored = {
          account,
          ...(grants === undefined ? {} : { grants: merged(grants) }),
          created,
          ...(expires === undefined ? {} : { expires }),
          secret: seal(key, [kind, accessKeyId], newSecret()),
        };
        const outcome = await documents.put(kind, accessKeyId, JSON.stringify(stored), undefined);
        if (outcome === "committed") return whole(accessKeyId, stored);
      }
    },
    async list() {
      const uses = await writtenUses(documents);
      const all = (await documents.list(kind)).map((document) => ({
        ...infoOf(document.name, storedOf(document), now()),
        lastUsed: uses.get(document.name),
      }));
      return all.sort((a, b) => compare(a.account, b.account) || a.created - b.created);
    },
    async find(accessKeyId) {
      const document = await read(accessKeyId);
      return document === undefined ? undefined : whole(accessKeyId, storedOf(document));
    },
    async delete(accessKeyId) {
      const isDeleted = await documents.delete(kind, accessKeyId);
      if (isDeleted) await forgetUse(documents, accessKeyId);
      return isDeleted;
    },
    async disable(accessKeyId) {
      return (await update(accessKeyId, (stored) => ({ ...stored, disabled: true }))) !== undefined;
    },
    async enable(accessKeyId) {
      return (await update(accessKeyId, ({ disabled: _, ...stored }) => stored)) !== undefined;
    },
    async rotate(accessKeyId, keepPrevious = 0) {
      const secret = seal(key, [kind, accessKeyId], newSecret());
      const until = now() + keepPrevious;
      const stored = await update(accessKeyId, ({ previous: _, ...before }) => ({
        ...before,
        secret,
        ...(keepPrevious > 0 ? { previous: { secret: before.secret, until } } : {}),
      }));
      return stored === undefined ? undefined : whole(accessKeyId, stored);
    },
  };
}

/** How the S3 API names an account as the owner of its buckets and objects. */
export function ownerOf(account: string): { readonly id: string; readonly displayName: string } {
  return {
    id: createHash("sha256").update(`store account ${account}`).digest("hex"),
    displayName: account,
  };
}

/** A document that has not changed is the same one, and is taken apart once. */
const taken = new WeakMap<Document, Stored>();

function storedOf(document: Document): Stored {
  const known = taken.get(document);
  if (known !== undefined) return known;
  const stored = JSON.parse(document.text) as Stored;
  taken.set(document, stored);
  return stored;
}

function infoOf(accessKeyId: string, stored: Stored, now: number): CredentialInfo {
  const { account, grants, created, expires, disabled, previous } = stored;
  const isExpired = expires !== undefined && expires <= now;
  return {
    accessKeyId,
    account,
    grants,
    created,
    expires,
    state: disabled ? "disabled" : isExpired ? "expired" : "active",
    previousUntil: previous !== undefined && previous.until > now ? previous.until : undefined,
  };
}

function checkAccount(account: string): void {
  if (accountShape.test(account)) return;
  throw new CredentialError(
    `"${account}" cannot be an account's name: it is lowercase letters, digits and dashes, at most 63 of ` +
      "them, a letter or digit at both ends.",
  );
}

function checkGranted(bucket: string): void {
  if (bucket === "*") return;
  try {
    checkBucketName(bucket);
  } catch (cause) {
    throw new CredentialError(`The grant names "${bucket}", which cannot be a bucket's name.`, { cause });
  }
}

/** One grant a bucket. */
function merged(grants: readonly Grant[]): Grant[] {
  const byBucket = new Map<string, Grant>();
  for (const { bucket, rights } of grants) {
    const all = new Set([...(byBucket.get(bucket)?.rights ?? []), ...rights]);
    byBucket.set(bucket, { bucket, rights: [...all] });
  }
  return [...byBucket.values()];
}

function newAccessKeyId(): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return `STORE${Array.from(randomBytes(15), (byte) => alphabet[byte & 31]).join("")}`;
}

/** 40 characters of base64url. */
function newSecret(): string {
  return randomBytes(30).toString("base64url");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
