// Roles: grants that trusted callers receive for a limited time. A role is a document whose seal
// authenticates it, so that an edited role does not count.
import { Buffer } from "node:buffer";
import type { Document, Documents } from "../../engine/records.ts";
import { type Fields, isFields } from "../../model/shape.ts";
import { seal, unseal } from "../../secrets/seal.ts";
import type { Grant } from "../grants.ts";

export interface Role extends RoleFields {
  readonly name: string;
}

export interface RoleFields {
  readonly account: string;
  readonly grants: readonly Grant[];
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly maxDurationSeconds: number;
  readonly trust: Trust;
}

/** Who may assume a role. */
export interface Trust {
  /** Accounts whose access keys with full access may assume the role. */
  readonly accounts: readonly string[];
  /** Ids of access keys that may assume the role, whatever their grants are. */
  readonly keys: readonly string[];
  readonly providers: readonly TrustedProvider[];
}

/** An OpenID provider whose ID tokens may assume the role. */
export interface TrustedProvider {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Claims that the ID token must have, by name. A value that ends with `*` is a prefix. */
  readonly claims: Readonly<Record<string, string>>;
}

export interface Roles {
  /** Throws RoleError if the role exists. */
  create(name: string, role: Omit<RoleFields, "created">): Promise<Role>;
  /** Sorted by name. */
  list(): Promise<Role[]>;
  /** Undefined if the role does not exist or its document was edited. */
  find(name: string): Promise<Role | undefined>;
  delete(name: string): Promise<boolean>;
  /** Returns the secret that signs the session tokens of roles; creates it on first use. */
  signingSecret(): Promise<string>;
}

/** Invalid settings of a role. The message is for the user. */
export class RoleError extends Error {
  override readonly name = "RoleError";
}

interface StoredRole extends RoleFields {
  readonly seal: string;
}

const kind = "role";
const signingKind = "role signing key";
const signingName = "1";
const maxCached = 1000;
export const roleNameRule = "1 to 64 letters, digits and the characters _ + = , . @ -";
const roleName = /^[A-Za-z0-9_+=,.@-]{1,64}$/;
export const roleSeconds = { min: 900, max: 12 * 3600, default: 3600 } as const;

export function createRoles(documents: Documents, secretKey: () => Uint8Array, now: () => number): Roles {
  /** Cache of roles by name and text: unsealing costs as much as the rest of a small request. */
  const opened = new Map<string, Role | "edited">();
  let signing: { readonly text: string; readonly secret: string } | undefined;

  function open(document: Document): Role | undefined {
    const cacheName = `${document.name} ${document.text}`;
    const role = opened.get(cacheName) ?? openRole(secretKey(), document) ?? "edited";
    if (opened.size >= maxCached) opened.clear();
    opened.set(cacheName, role);
    return role === "edited" ? undefined : role;
  }

  return {
    async create(name, given) {
      checkRole(name, given);
      const fields: RoleFields = { ...given, created: now() };
      const stored: StoredRole = { ...fields, seal: seal(secretKey(), sealSubject(name, fields), name) };
      const outcome = await documents.put(kind, name, JSON.stringify(stored), undefined);
      if (outcome === "conflict") throw new RoleError(`The role "${name}" already exists.`);
      return { name, ...fields };
    },
    async list() {
      return (await documents.list(kind)).flatMap((document) => open(document) ?? []);
    },
    async find(name) {
      if (!roleName.test(name)) return undefined;
      const document = await documents.get(kind, name);
      return document && open(document);
    },
    delete: (name) => (roleName.test(name) ? documents.delete(kind, name) : Promise.resolve(false)),
    async signingSecret() {
      for (;;) {
        const document = await documents.get(signingKind, signingName);
        if (document !== undefined && document.text === signing?.text) return signing.secret;
        const secret = document && unseal(secretKey(), [signingKind, signingName], document.text);
        if (document !== undefined && secret !== undefined) {
          signing = { text: document.text, secret };
          return secret;
        }
        // Sealed with another secret key: its tokens are lost, so a new secret replaces it.
        const text = seal(secretKey(), [signingKind, signingName], newSecret());
        await documents.put(signingKind, signingName, text, document?.revision);
      }
    },
  };
}

function newSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

function openRole(key: Uint8Array, { name, text }: Document): Role | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isFields(value) || typeof value.seal !== "string") return undefined;
  const { seal: sealed, ...fields } = value;
  // The seal proves that this program wrote the other fields.
  const isSealed = unseal(key, sealSubject(name, fields), sealed as string) === name;
  return isSealed ? { name, ...(fields as unknown as RoleFields) } : undefined;
}

/** The text of a stored document keeps the order of its fields, so plain JSON is canonical. */
function sealSubject(name: string, fields: RoleFields | Fields): readonly string[] {
  return [kind, name, JSON.stringify(fields)];
}

function checkRole(name: string, { grants, trust, maxDurationSeconds }: Omit<RoleFields, "created">): void {
  if (!roleName.test(name)) throw new RoleError(`"${name}" is not a role name: use ${roleNameRule}.`);
  if (grants.length === 0) throw new RoleError("A role needs at least one grant.");
  const { accounts, keys, providers } = trust;
  if (accounts.length + keys.length + providers.length === 0)
    throw new RoleError("A role needs at least one trusted account, access key or provider.");
  for (const { issuer, audiences } of providers) {
    if (audiences.length === 0 || audiences.includes(""))
      throw new RoleError(`The trusted provider ${issuer} needs at least one audience.`);
  }
  const { min, max } = roleSeconds;
  const isDuration =
    Number.isInteger(maxDurationSeconds) && maxDurationSeconds >= min && maxDurationSeconds <= max;
  if (!isDuration) throw new RoleError("The maximum duration of a role is from 15 minutes to 12 hours.");
}
