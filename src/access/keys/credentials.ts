// Access keys of the S3 API. Checking a signature needs the secret itself, not a hash of it, so the
// secret is stored, sealed with the store's secret key.
import { createHash } from "node:crypto";
import type { Document, Documents } from "../../engine/records.ts";
import type { BucketRecord } from "../../model/bucket.ts";
import { type Grant, isGrantOn } from "../grants.ts";
import { createGrantBinder, type FindBucket, isUnbound } from "./credential-grants.ts";
import {
  type CredentialFields,
  credentialKind as kind,
  type OpenCredential,
  openCredential,
  parseStoredCredential,
  readFields,
  type StoredCredential,
  sealCredential,
  withFields,
} from "./credential-record.ts";
import type { KeyLimits } from "./key-rates.ts";
import { deleteUse, readUses } from "./key-usage.ts";
import {
  CredentialError,
  checkImported,
  isAccessKeyId,
  newAccessKeyId,
  newSecret,
  toNewFields,
} from "./new-credential.ts";

/** Public description of an access key, without its secret. */
export interface CredentialInfo {
  readonly accessKeyId: string;
  readonly account: string;
  /** What the key is for, in the words of its creator. */
  readonly name?: string | undefined;
  /** Undefined: full access to the account. */
  readonly grants: readonly Grant[] | undefined;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number | undefined;
  readonly state: "active" | "disabled" | "expired";
  /** End of the period in which the secret before the last rotation is still accepted. */
  readonly previousUntil: number | undefined;
  /** Undefined: no limits. */
  readonly limits?: KeyLimits | undefined;
}

export interface ListedCredential extends CredentialInfo {
  /** Time of the last use, accurate to an hour; undefined if the key was never used. */
  readonly lastUsed: number | undefined;
}

export interface Credential extends CredentialInfo {
  readonly secretAccessKey: string;
  /** Secrets that are accepted now, newest first. */
  readonly secrets: readonly string[];
}

export interface NewCredential {
  readonly account?: string | undefined;
  readonly name?: string | undefined;
  readonly grants?: readonly Grant[] | undefined;
  /** Milliseconds since the epoch. */
  readonly expires?: number | undefined;
  readonly limits?: KeyLimits | undefined;
}

export interface ImportedKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Credentials {
  create(options?: NewCredential): Promise<Credential>;
  /** Adds an access key of another system. Throws CredentialError if the id exists. */
  import(key: ImportedKey, options?: NewCredential): Promise<Credential>;
  /** Sorted by account, then by creation time. */
  list(): Promise<ListedCredential[]>;
  /** Also returns disabled and expired keys: the caller checks `state`. */
  find(accessKeyId: string): Promise<Credential | undefined>;
  /** Returns false if the key does not exist, as do `disable` and `enable`. */
  delete(accessKeyId: string): Promise<boolean>;
  disable(accessKeyId: string): Promise<boolean>;
  enable(accessKeyId: string): Promise<boolean>;
  /** Replaces the secret; the previous secret is accepted for `keepPrevious` milliseconds. */
  rotate(accessKeyId: string, keepPrevious?: number): Promise<Credential | undefined>;
  /** Binds grants of earlier versions to their current buckets; drops grants without a bucket. */
  bindGrants(find: FindBucket): Promise<void>;
  /** Drops every grant on a deleted bucket. */
  dropGrants(bucket: BucketRecord): Promise<void>;
}

/** A `secretKey` function is called when the key is first needed; listing does not need it. */
export function createCredentials(
  documents: Documents,
  secretKey: Uint8Array | (() => Uint8Array),
  now: () => number,
): Credentials {
  let loaded: Uint8Array | undefined;
  const masterKey = () => {
    loaded ??= typeof secretKey === "function" ? secretKey() : secretKey;
    return loaded;
  };

  function read(accessKeyId: string): Promise<Document | undefined> {
    return isAccessKeyId(accessKeyId) ? documents.get(kind, accessKeyId) : Promise.resolve(undefined);
  }

  /** Cache of unsealed records: unsealing costs as much as the rest of a small request. */
  const openedCache = new WeakMap<StoredCredential, OpenCredential>();

  function openStored(accessKeyId: string, stored: StoredCredential): OpenCredential {
    const open = openedCache.get(stored) ?? openCredential(masterKey(), accessKeyId, stored);
    if (open === undefined) throw cannotOpenError(accessKeyId);
    openedCache.set(stored, open);
    return open;
  }

  /** Commits `change` and retries after a conflict. Undefined if the key does not exist. */
  async function update(
    accessKeyId: string,
    change: (stored: StoredCredential) => StoredCredential,
  ): Promise<StoredCredential | undefined> {
    for (;;) {
      const document = await read(accessKeyId);
      if (document === undefined) return undefined;
      const changed = change(parseStoredCredential(document));
      const text = JSON.stringify(changed);
      if ((await documents.put(kind, accessKeyId, text, document.revision)) === "committed") return changed;
    }
  }

  async function updateFields(
    accessKeyId: string,
    change: (fields: CredentialFields) => CredentialFields,
  ): Promise<boolean> {
    const changed = await update(accessKeyId, (stored) =>
      withFields(masterKey(), accessKeyId, stored, change),
    );
    return changed !== undefined;
  }

  async function updateGrants(
    isAffected: (grant: Grant) => boolean,
    makeChange: (grants: readonly Grant[]) => Promise<(grants: readonly Grant[]) => readonly Grant[]>,
  ): Promise<void> {
    for (const document of await documents.list(kind)) {
      const { grants } = parseStoredCredential(document);
      if (grants === undefined || !grants.some(isAffected)) continue;
      const change = await makeChange(grants);
      await update(document.name, (stored) => {
        // The seal covers the grants, except in records of earlier versions. An unreadable record
        // is kept as it is: with other grants, even the right secret key could not unseal it.
        const isUnreadable =
          stored.form !== undefined && openCredential(masterKey(), document.name, stored) === undefined;
        const changed = (fields: CredentialFields) => ({ ...fields, grants: change(fields.grants ?? []) });
        return isUnreadable ? stored : withFields(masterKey(), document.name, stored, changed);
      });
    }
  }

  /** Cache of credentials whose state does not change with time. */
  const credentialCache = new WeakMap<StoredCredential, Credential>();

  function toCredential(accessKeyId: string, stored: StoredCredential): Credential {
    const cached = credentialCache.get(stored);
    if (cached !== undefined) return cached;
    const credential = buildCredential(accessKeyId, stored);
    if (stored.expires === undefined && stored.previous === undefined)
      credentialCache.set(stored, credential);
    return credential;
  }

  function buildCredential(accessKeyId: string, stored: StoredCredential): Credential {
    const info = toCredentialInfo(accessKeyId, stored, now());
    const { secret, previous } = openStored(accessKeyId, stored);
    const secrets = info.previousUntil === undefined ? [secret] : [secret, previous!.secret];
    return { ...info, secretAccessKey: secret, secrets };
  }

  /** Undefined if the access key exists. */
  async function add(
    accessKeyId: string,
    fields: CredentialFields,
    secret: string,
  ): Promise<Credential | undefined> {
    const stored = sealCredential(masterKey(), accessKeyId, { fields, secret });
    const outcome = await documents.put(kind, accessKeyId, JSON.stringify(stored), undefined);
    return outcome === "committed" ? toCredential(accessKeyId, stored) : undefined;
  }

  return {
    async create(options = {}) {
      const fields = toNewFields(options, now());
      for (;;) {
        const accessKeyId = newAccessKeyId();
        const created = await add(accessKeyId, fields, newSecret());
        if (created !== undefined) return created;
      }
    },
    async import({ accessKeyId, secretAccessKey }, options = {}) {
      checkImported(accessKeyId, secretAccessKey);
      const imported = await add(accessKeyId, toNewFields(options, now()), secretAccessKey);
      if (imported !== undefined) return imported;
      throw new CredentialError(`The access key ${accessKeyId} already exists; nothing was changed.`);
    },
    async list() {
      const uses = await readUses(documents);
      const all = (await documents.list(kind)).map((document) => ({
        ...toCredentialInfo(document.name, parseStoredCredential(document), now()),
        lastUsed: uses.get(document.name),
      }));
      return all.sort((a, b) => compare(a.account, b.account) || a.created - b.created);
    },
    async find(accessKeyId) {
      const document = await read(accessKeyId);
      return document === undefined ? undefined : toCredential(accessKeyId, parseStoredCredential(document));
    },
    async delete(accessKeyId) {
      const isDeleted = isAccessKeyId(accessKeyId) && (await documents.delete(kind, accessKeyId));
      if (isDeleted) await deleteUse(documents, accessKeyId);
      return isDeleted;
    },
    disable: (accessKeyId) => updateFields(accessKeyId, (fields) => ({ ...fields, disabled: true })),
    enable: (accessKeyId) => updateFields(accessKeyId, ({ disabled: _, ...fields }) => fields),
    async rotate(accessKeyId, keepPrevious = 0) {
      const secret = newSecret();
      const until = now() + keepPrevious;
      const stored = await update(accessKeyId, (current) => {
        const { fields, secret: last } = openStored(accessKeyId, current);
        const previous = keepPrevious > 0 ? { secret: last, until } : undefined;
        return sealCredential(masterKey(), accessKeyId, { fields, secret, previous });
      });
      return stored === undefined ? undefined : toCredential(accessKeyId, stored);
    },
    bindGrants: (find) => updateGrants(isUnbound, (grants) => createGrantBinder(grants, find)),
    async dropGrants(bucket) {
      const isOn = (grant: Grant) => isGrantOn(grant, bucket);
      await updateGrants(isOn, async () => (grants) => grants.filter((grant) => !isOn(grant)));
    },
  };
}

function cannotOpenError(accessKeyId: string): CredentialError {
  return new CredentialError(
    `Access key ${accessKeyId} cannot be decrypted: it was created with another secret key,\n` +
      "  or its record was edited.\n" +
      "  Restore the original secret.key file of the data directory, or the original STORE_SECRET_KEY,\n" +
      `  or delete the access key: store key delete ${accessKeyId}`,
  );
}

/** Returns the values of S3's Owner element for an account. */
export function toOwner(account: string): { readonly id: string; readonly displayName: string } {
  return {
    id: createHash("sha256").update(`store account ${account}`).digest("hex"),
    displayName: account,
  };
}

function toCredentialInfo(accessKeyId: string, stored: StoredCredential, now: number): CredentialInfo {
  const { account, name, grants, created, expires, disabled, limits } = readFields(stored);
  const { previous } = stored;
  const isExpired = expires !== undefined && expires <= now;
  return {
    accessKeyId,
    account,
    name,
    grants,
    created,
    expires,
    state: disabled ? "disabled" : isExpired ? "expired" : "active",
    previousUntil: previous !== undefined && previous.until > now ? previous.until : undefined,
    limits,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
