// Routes for access keys: list, create, rotate, disable, enable and delete. The caller provides the
// implementation.
import type { BucketRecord } from "../../../model/bucket.ts";
import { isCount } from "../../../model/shape.ts";
import { ConsoleError, json, noContent } from "../../response.ts";
import type { Call, Fields, Route } from "../../route.ts";
import type { KeyDocument, KeyLimitsDocument, KeySecretDocument, KeysDocument } from "../../wire-types.ts";

/** Methods throw ConsoleError for invalid input, and return undefined or false for unknown keys. */
export interface ConsoleKeys {
  readonly rights: readonly string[];
  list(): Promise<readonly KeyDocument[]>;
  create(options: NewKey): Promise<KeySecretDocument>;
  /** Removes all grants on a deleted bucket. */
  endGrants(bucket: BucketRecord): Promise<void>;
  change(accessKeyId: string, action: "disable" | "enable" | "delete"): Promise<boolean>;
  /** `keep` is how long the previous secret stays valid. */
  rotate(accessKeyId: string, keep: string | undefined): Promise<KeySecretDocument | undefined>;
}

export interface NewKey {
  /** What the key is for. */
  readonly name: string | undefined;
  readonly account: string | undefined;
  /** Grants such as `photos:read,list`; undefined for full access to the account. */
  readonly grants: readonly string[] | undefined;
  /** Lifetime such as 30d; undefined if the key does not expire. */
  readonly expires: string | undefined;
  /** Rates in whole numbers; undefined for no limit. */
  readonly limits: KeyLimitsDocument | undefined;
  /** A key of another system to import; undefined for a new id and secret. */
  readonly existing: ExistingKey | undefined;
}

export interface ExistingKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const path = "/api/keys";
/** A key may reach every bucket, so all of it is for administrators of the whole store. */
const needs = { right: "administer", on: "store" } as const;

export function keyRoutes(keys: ConsoleKeys): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      needs,
      async run() {
        return json({ keys: await keys.list(), rights: keys.rights } satisfies KeysDocument);
      },
    },
    {
      method: "POST",
      path,
      needs,
      async run({ fields }) {
        const given = await fields();
        const grants = given.list("grants");
        if (grants?.some((grant) => typeof grant !== "string")) {
          throw new ConsoleError(400, '"grants" must be a list of strings.');
        }
        const made = await keys.create({
          name: given.optionalText("name"),
          account: given.optionalText("account"),
          grants: grants as readonly string[] | undefined,
          expires: given.optionalText("expires"),
          limits: parseLimits(given),
          existing: parseExisting(given),
        });
        return json(made, 201);
      },
    },
    {
      method: "POST",
      path: `${path}/rotate`,
      needs,
      async run({ query, fields }) {
        const rotated = await keys.rotate(query.text("key"), (await fields()).optionalText("keep"));
        if (rotated === undefined) throw noSuchKey();
        return json(rotated);
      },
    },
    { method: "POST", path: `${path}/disable`, needs, run: createChangeHandler("disable") },
    { method: "POST", path: `${path}/enable`, needs, run: createChangeHandler("enable") },
    { method: "DELETE", path, needs, run: createChangeHandler("delete") },
  ];

  function createChangeHandler(action: "disable" | "enable" | "delete") {
    return async ({ query }: Call) => {
      if (!(await keys.change(query.text("key"), action))) throw noSuchKey();
      return noContent();
    };
  }
}

function parseLimits(given: Fields): KeyLimitsDocument | undefined {
  const limits = given.object("limits");
  if (limits === undefined) return undefined;
  const { requestsPerSecond, bytesPerSecond } = limits;
  if ([requestsPerSecond, bytesPerSecond].some((one) => one !== undefined && !isCount(one)))
    throw new ConsoleError(400, "Limits must be whole numbers.");
  return { requestsPerSecond, bytesPerSecond } as KeyLimitsDocument;
}

function parseExisting(given: Fields): ExistingKey | undefined {
  const existing = given.object("existing");
  if (existing === undefined) return undefined;
  const { accessKeyId, secretAccessKey } = existing;
  if (typeof accessKeyId !== "string" || typeof secretAccessKey !== "string")
    throw new ConsoleError(400, "A key to import has an access key id and a secret access key.");
  return { accessKeyId, secretAccessKey };
}

function noSuchKey(): ConsoleError {
  return new ConsoleError(404, "This access key no longer exists.", {
    hint: "Reload the page to see the current keys.",
  });
}
