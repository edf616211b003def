// Settings of a new access key on the command line, and the output of a key.

import { formatGrant, type Grant, parseDuration, parseGrant } from "../../../access/grants.ts";
import { bindGrants } from "../../../access/keys/credential-grants.ts";
import type { CredentialInfo, NewCredential } from "../../../access/keys/credentials.ts";
import { CredentialError } from "../../../access/keys/new-credential.ts";
import { StoreError } from "../../../model/errors.ts";
import type { Invocation, Option } from "../../framework/command.ts";
import { parseOrUsageError, usageError } from "../../framework/command-error.ts";
import { toCommandError } from "../../framework/failures.ts";
import type { Data } from "../../store/open-store.ts";

export const grantOption: Option = {
  value: "BUCKET:RIGHTS",
  summary:
    "permissions on a bucket or a part of it: read, write, append, list, delete, admin; * is every bucket",
  repeatable: true,
};

export const keySettingOptions: Readonly<Record<string, Option>> = {
  name: { value: "NAME", summary: "what the key is for, shown in lists" },
  account: { value: "NAME", summary: 'account that owns the key and its buckets; default: "default"' },
  grant: grantOption,
  expires: { value: "TIME", summary: "lifetime, such as 12h or 30d; default: no expiry" },
};

/** Parses the options. The returned function checks them against the store. */
export function parseKeySettings({ options }: Invocation): (data: Data) => Promise<NewCredential> {
  const given = parseGrants(options.texts("grant"));
  const expires = options.text("expires");
  const lifetime = expires === undefined ? undefined : parseOrUsageError(() => parseDuration(expires));
  const [name, account] = [options.text("name"), options.text("account")];
  return async (data) => ({
    name,
    account,
    grants: given.length === 0 ? undefined : await bindToBuckets(data, given),
    expires: lifetime === undefined ? undefined : Date.now() + lifetime,
  });
}

export function parseGrants(texts: readonly string[]): Grant[] {
  return texts.map((text) => parseOrUsageError(() => parseGrant(text)));
}

/** Refuses a missing bucket: otherwise a typo is only noticed when a client gets AccessDenied. */
export async function bindToBuckets({ engine }: Data, grants: readonly Grant[]): Promise<Grant[]> {
  for (const { bucket } of grants) {
    if (bucket === "*" || (await engine.bucket(bucket)) !== undefined) continue;
    throw toCommandError(new StoreError("NoSuchBucket"), { bucket });
  }
  return bindGrants(grants, (bucket) => engine.bucket(bucket));
}

/** Converts an error about the settings of a key to a usage error. */
export function throwUsageError(error: unknown): never {
  throw error instanceof CredentialError ? usageError(error.message) : error;
}

export function formatGrants(grants: readonly Grant[] | undefined): string {
  if (grants === undefined) return "full access";
  if (grants.length === 0) return "none";
  return grants.map(formatGrant).join(" ");
}

export function grantsJson(grants: readonly Grant[] | undefined) {
  return grants?.map(({ identity: _, ...grant }) => grant) ?? null;
}

export function keyJson({ accessKeyId, name, account, grants, created, expires, state }: CredentialInfo) {
  return {
    accessKeyId,
    name: name ?? null,
    account,
    grants: grantsJson(grants),
    created: new Date(created).toISOString(),
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    state,
  };
}
