// The stored form of an access key: secrets are sealed with the store's secret key. The seal also
// authenticates the permissions: a record whose account or grants were edited cannot be unsealed.
import type { Document } from "../../engine/records.ts";
import { isFields, isList, isNumber, isOptional } from "../../model/shape.ts";
import { parseDocument } from "../../model/stored-document.ts";
import { seal, unseal } from "../../secrets/seal.ts";
import { type Grant, isGrant } from "../grants.ts";
import type { KeyLimits } from "./key-rates.ts";

/** Fields that are readable without the store's secret key. */
export interface CredentialFields {
  readonly account: string;
  /** What the key is for. */
  readonly name?: string;
  /** Undefined: full access to the account. */
  readonly grants?: readonly Grant[];
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires?: number;
  readonly disabled?: true;
  /** Undefined: no limits. */
  readonly limits?: KeyLimits;
}

export interface StoredCredential extends CredentialFields {
  /**
   * New records have 3: the seal covers all fields, and the right to write does not include deleting.
   * Absent in the oldest records, whose seal covers only the id.
   */
  readonly form?: 2 | 3;
  readonly secret: string;
  readonly previous?: { readonly secret: string; readonly until: number };
}

export interface OpenCredential {
  readonly fields: CredentialFields;
  readonly secret: string;
  readonly previous?: { readonly secret: string; readonly until: number } | undefined;
}

export const credentialKind = "credential";

export function sealCredential(key: Uint8Array, accessKeyId: string, open: OpenCredential): StoredCredential {
  const { fields, secret, previous } = open;
  const subject = sealSubject(accessKeyId, { ...fields, form: 3 });
  return {
    ...fields,
    form: 3,
    secret: seal(key, subject, secret),
    ...(previous === undefined
      ? {}
      : {
          previous: {
            until: previous.until,
            secret: seal(key, previousSealSubject(subject, previous.until), previous.secret),
          },
        }),
  };
}

/** Unseals the secrets. Undefined if the record was edited or sealed with another secret key. */
export function openCredential(
  key: Uint8Array,
  accessKeyId: string,
  stored: StoredCredential,
): OpenCredential | undefined {
  const { form, secret: sealed, previous } = stored;
  const fields = readFields(stored);
  const subject = sealSubject(accessKeyId, stored);
  const secret = unseal(key, subject, sealed);
  if (secret === undefined) return undefined;
  if (previous === undefined) return { fields, secret };
  const { until } = previous;
  const previousSecret = unseal(
    key,
    form === undefined ? subject : previousSealSubject(subject, until),
    previous.secret,
  );
  return previousSecret === undefined
    ? undefined
    : { fields, secret, previous: { secret: previousSecret, until } };
}

/** Changes the fields and seals the record again. An unreadable record stays unreadable. */
export function withFields(
  key: Uint8Array,
  accessKeyId: string,
  stored: StoredCredential,
  change: (fields: CredentialFields) => CredentialFields,
): StoredCredential {
  const open = openCredential(key, accessKeyId, stored);
  if (open !== undefined) return sealCredential(key, accessKeyId, { ...open, fields: change(open.fields) });
  const { form, secret, previous, ...fields } = stored;
  const sealed = { ...(form === undefined ? {} : { form }), secret };
  return { ...change(fields), ...sealed, ...(previous === undefined ? {} : { previous }) };
}

/** Returns the fields as they apply now: in earlier versions, the right to write included deleting. */
export function readFields(stored: StoredCredential): CredentialFields {
  const { form, secret: _, previous: __, ...fields } = stored;
  if (form === 3 || fields.grants === undefined) return fields;
  const grants = fields.grants.map((grant) =>
    grant.rights.includes("write") ? { ...grant, rights: [...grant.rights, "delete" as const] } : grant,
  );
  return { ...fields, grants };
}

/** Checks what is used before the seal is verified; the seal covers the other fields. */
function isStoredCredential(value: unknown): value is StoredCredential {
  if (!isFields(value)) return false;
  const { account, grants, created, expires, form, secret, previous } = value;
  return (
    [account, secret].every((text) => typeof text === "string") &&
    isOptional(grants, areGrants) &&
    isNumber(created) &&
    isOptional(expires, isNumber) &&
    [undefined, 2, 3].includes(form as undefined) &&
    isOptional(previous, isPrevious)
  );
}

function areGrants(value: unknown): value is readonly Grant[] {
  return isList(value, Number.POSITIVE_INFINITY, isGrant);
}

function isPrevious(value: unknown): value is NonNullable<StoredCredential["previous"]> {
  return isFields(value) && typeof value.secret === "string" && isNumber(value.until);
}

const byDocument = new WeakMap<Document, StoredCredential>();
/** Keyed by name and text, so that a record copied to another access key has its own entry. */
const byText = new Map<string, StoredCredential>();
const maxCached = 1000;

/** Returns the same object for an unchanged document, so that callers can use it as a cache key. */
export function parseStoredCredential(document: Document): StoredCredential {
  const cached = byDocument.get(document);
  if (cached !== undefined) return cached;
  const name = `${document.name} ${document.text}`;
  const stored =
    byText.get(name) ?? parseDocument(document.text, `The access key ${document.name}`, isStoredCredential);
  if (byText.size >= maxCached) byText.clear();
  byText.set(name, stored);
  byDocument.set(document, stored);
  return stored;
}

/** What the seal covers. Fields with the value undefined do not count. */
function sealSubject(
  accessKeyId: string,
  stored: CredentialFields & Pick<StoredCredential, "form"> & Partial<StoredCredential>,
): readonly string[] {
  const { form, secret: _, previous: __, ...fields } = stored;
  if (form === undefined) return [credentialKind, accessKeyId];
  if (form === 3) return [credentialKind, accessKeyId, "3", canonicalJson(fields)];
  const { account, grants, created, expires, disabled } = fields;
  const granted = grants?.map(({ bucket, rights, identity }) => [bucket, rights, identity ?? null]);
  const covered = [account, granted ?? null, created, expires ?? null, disabled ?? false];
  return [credentialKind, accessKeyId, JSON.stringify(covered)];
}

function previousSealSubject(subject: readonly string[], until: number): readonly string[] {
  return [...subject, `previous until ${until}`];
}

/** JSON with sorted names, so that the order in which fields were written does not matter. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
