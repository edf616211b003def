// Settings of a new access key on the command line, and the output of a key.

import { formatGrant, type Grant, parseDuration, parseGrant } from "../../../access/grants.ts";
import { bindGrants } from "../../../access/keys/credential-grants.ts";
import type { CredentialInfo, NewCredential } from "../../../access/keys/credentials.ts";
import type { KeyLimits } from "../../../access/keys/key-rates.ts";
import { CredentialError } from "../../../access/keys/new-credential.ts";
import { StoreError } from "../../../model/errors.ts";
import type { Invocation, Option, ParsedOptions } from "../../framework/command.ts";
import { parseOrUsageError, usageError } from "../../framework/command-error.ts";
import { toCommandError } from "../../framework/failures.ts";
import type { Output } from "../../framework/output.ts";
import { parseSize, parseWholeNumber } from "../../framework/size-argument.ts";
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
  "requests-per-second": { value: "N", summary: "maximum rate of requests; default: no limit" },
  "bytes-per-second": {
    value: "SIZE",
    summary: "maximum rate of bytes in and out, such as 10MB; default: no limit",
  },
};

/** Parses the options. The returned function checks them against the store. */
export function parseKeySettings({ options }: Invocation): (data: Data) => Promise<NewCredential> {
  const given = parseGrants(options.texts("grant"));
  const expires = options.text("expires");
  const lifetime = expires === undefined ? undefined : parseOrUsageError(() => parseDuration(expires));
  const limits = readLimits(options);
  const [name, account] = [options.text("name"), options.text("account")];
  return async (data) => ({
    name,
    account,
    grants: given.length === 0 ? undefined : await bindToBuckets(data, given),
    expires: lifetime === undefined ? undefined : Date.now() + lifetime,
    limits,
  });
}

function readLimits(options: ParsedOptions): KeyLimits | undefined {
  const [requests, bytes] = [options.text("requests-per-second"), options.text("bytes-per-second")];
  if (requests === undefined && bytes === undefined) return undefined;
  return {
    ...(requests === undefined
      ? {}
      : { requestsPerSecond: parseWholeNumber("--requests-per-second", requests) }),
    ...(bytes === undefined ? {} : { bytesPerSecond: parseSize("--bytes-per-second", bytes) }),
  };
}

export function limitFields(limits: KeyLimits | undefined, output: Output): [string, string][] {
  const { requestsPerSecond, bytesPerSecond } = limits ?? {};
  const fields: [string, string][] = [];
  if (requestsPerSecond !== undefined) fields.push(["requests per second", String(requestsPerSecond)]);
  if (bytesPerSecond !== undefined) fields.push(["bytes per second", output.bytes(bytesPerSecond)]);
  return fields;
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

export function keyJson({
  accessKeyId,
  name,
  account,
  grants,
  created,
  expires,
  state,
  limits,
}: CredentialInfo) {
  return {
    accessKeyId,
    name: name ?? null,
    account,
    grants: grantsJson(grants),
    created: new Date(created).toISOString(),
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    state,
    ...(limits === undefined ? {} : { limits }),
  };
}
