// The keys of conditions, and the kind of value that each has in a request.

export type ValueKind = "text" | "address" | "bool" | "number" | "date" | "arn";

const kinds: Readonly<Record<string, ValueKind>> = {
  "aws:sourceip": "address",
  "aws:securetransport": "bool",
  "aws:currenttime": "date",
  "aws:epochtime": "date",
  "aws:referer": "text",
  "aws:useragent": "text",
  "aws:principalarn": "arn",
  "aws:principalaccount": "text",
  "aws:userid": "text",
  "aws:username": "text",
  "s3:authtype": "text",
  "s3:signatureversion": "text",
  "s3:prefix": "text",
  "s3:delimiter": "text",
  "s3:max-keys": "number",
  "s3:versionid": "text",
  "s3:requestobjecttagkeys": "text",
  "s3:object-lock-mode": "text",
  "s3:object-lock-legal-hold": "text",
  "s3:object-lock-retain-until-date": "date",
};

/** Keys whose value is the header of the same name. */
const headerKeys = new Set(
  [
    ...["acl", "copy-source", "metadata-directive", "storage-class", "content-sha256"],
    ...["server-side-encryption", "server-side-encryption-customer-algorithm"],
    ...["server-side-encryption-aws-kms-key-id", "website-redirect-location"],
    ...["grant-full-control", "grant-read", "grant-read-acp", "grant-write", "grant-write-acp"],
  ].map((name) => `s3:x-amz-${name}`),
);

/** Keys that are followed by the key of a tag, which is case-sensitive. */
export const tagKeys = { existing: "s3:existingobjecttag/", requested: "s3:requestobjecttag/" } as const;

export interface ConditionKey {
  /** Lowercase, except for the key of a tag. */
  readonly name: string;
  readonly kind: ValueKind;
}

export function parseConditionKey(text: string): ConditionKey | undefined {
  const name = text.toLowerCase();
  for (const prefix of Object.values(tagKeys)) {
    if (!name.startsWith(prefix)) continue;
    const tag = text.slice(prefix.length);
    return tag === "" ? undefined : { name: prefix + tag, kind: "text" };
  }
  if (headerKeys.has(name)) return { name, kind: "text" };
  return Object.hasOwn(kinds, name) ? { name, kind: kinds[name]! } : undefined;
}

/** Returns the header whose value the key has, if any. */
export function headerOfKey(name: string): string | undefined {
  return headerKeys.has(name) ? name.slice("s3:".length) : undefined;
}
