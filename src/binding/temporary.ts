// Temporary credentials of a bucket: they give S3 clients access to parts of it until they expire.
import { rights as allRights, type Grant, type Right } from "../access/grants.ts";
import { createTemporaryCredentials, TemporaryCredentialsError } from "../access/temporary/token.ts";
import type * as script from "../credential-types.ts";
import { checkKey } from "../model/key.ts";
import { optionsArgument } from "./arguments.ts";
import type { Presigner } from "./presign.ts";

const defaultSeconds = 3600;

export function bucketCredentials(
  presigner: Presigner | undefined,
  bucket: string,
  options: script.StoreTemporaryCredentialsOptions | null | undefined,
): script.StoreTemporaryCredentials {
  if (presigner === undefined) {
    throw new TypeError(
      "temporaryCredentials: no S3 endpoint is configured. `store dev` and `store serve` configure one for scripts; " +
        "in a program, use openStore(location, { presign: { endpoint, accessKeyId, secretAccessKey } }).",
    );
  }
  const { endpoint, accessKeyId: id, secretAccessKey: secret, now = Date.now } = presigner;
  const given = optionsArgument(options) as script.StoreTemporaryCredentialsOptions;
  const made = withTypeErrors(() =>
    createTemporaryCredentials(
      { id, secret },
      {
        grants: toGrants(bucket, given),
        operations: given.actions === undefined ? undefined : textList(given.actions, "actions"),
        lifetimeSeconds: given.expiresIn ?? defaultSeconds,
        now: now(),
      },
    ),
  );
  const { accessKeyId, secretAccessKey, sessionToken, expires } = made;
  return { accessKeyId, secretAccessKey, sessionToken, expiration: new Date(expires), endpoint, bucket };
}

/** Without a prefix and an object, the credentials are valid for the whole bucket. */
function toGrants(bucket: string, options: script.StoreTemporaryCredentialsOptions): Grant[] {
  const { prefix, prefixes, objects, rights = ["read"] } = options;
  if (prefix !== undefined && prefixes !== undefined)
    throw new TypeError('Use either "prefix" or "prefixes", not both.');
  const given = textList(rights, "rights");
  const unknown = given.find((one) => !allRights.some((right) => right === one));
  if (unknown !== undefined || given.length === 0)
    throw new TypeError(`"rights" must contain some of ${allRights.join(", ")}.`);
  const granted = given as readonly Right[];
  const starts = textList(prefix === undefined ? (prefixes ?? []) : [prefix], "prefixes");
  const keys = textList(objects ?? [], "objects");
  for (const key of keys) checkKey(key);
  const isLimited = prefix !== undefined || prefixes !== undefined || objects !== undefined;
  if (isLimited && starts.length + keys.length === 0)
    throw new TypeError('"prefixes" and "objects" are empty: the credentials would not allow anything.');
  if (!isLimited) return [{ bucket, rights: granted }];
  return [
    ...starts.map((one) => ({ bucket, prefix: one, rights: granted })),
    ...keys.map((object) => ({ bucket, object, rights: granted })),
  ];
}

function textList(value: unknown, name: string): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new TypeError(`"${name}" must be a list of strings.`);
}

function withTypeErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof TemporaryCredentialsError ? new TypeError(error.message) : error;
  }
}
