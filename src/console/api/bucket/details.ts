// Routes for the page of one bucket: its state, and who and what reaches it.
import type { Engine } from "../../../engine/engine.ts";
import type { HttpRequest } from "../../../http/server/listen.ts";
import { encodePath } from "../../../http/sigv4.ts";
import type { Bucket } from "../../../model/bucket.ts";
import { allows, type Permissions, type Role, roles } from "../../auth/roles.ts";
import type { ShareLinks } from "../../auth/share-links.ts";
import type { ConsoleTokens } from "../../auth/tokens.ts";
import type { ConsoleUsers } from "../../auth/users.ts";
import { json } from "../../response.ts";
import type { Call, Route } from "../../route.ts";
import type {
  AccessDocument,
  AccessKeyRow,
  AccessUserRow,
  BucketDetailsDocument,
} from "../../wire-bucket.ts";
import type { KeyDocument } from "../../wire-types.ts";
import type { ConsoleKeys } from "../administration/keys.ts";
import { requireBucket, versioningState } from "../setting-changes.ts";
import type { ConsoleBuckets, ParsedPolicy } from "./console-buckets.ts";

export interface DetailsOptions {
  readonly engine: Engine;
  readonly buckets: ConsoleBuckets;
  readonly keys: Pick<ConsoleKeys, "list">;
  readonly users: Pick<ConsoleUsers, "list">;
  readonly tokens: Pick<ConsoleTokens, "list">;
  readonly links: Pick<ShareLinks, "list">;
  /** Public URL of the console, if a proxy is in front of it. */
  readonly url: string | undefined;
}

export function detailsRoutes(options: DetailsOptions): readonly Route[] {
  const { engine } = options;
  const needs = { right: "view", on: "bucket", in: "query" } as const;
  return [
    {
      method: "GET",
      path: "/api/bucket",
      needs,
      async run({ query, request }) {
        const bucket = await requireBucket(engine, query.text("bucket"));
        const { name, created, storageClass, account, settings } = bucket;
        return json({
          ...{ name, created, storageClass, account },
          versioning: versioningState(bucket),
          isEncrypted: settings.encryption !== undefined,
          isLocked: settings.objectLock !== undefined || settings.lockRules !== undefined,
          publication: describePublication(bucket, request, options),
          isPolicyPublic: readPolicy(bucket, options.buckets)?.isPublic ?? false,
        } satisfies BucketDetailsDocument);
      },
    },
    { method: "GET", path: "/api/bucket/access", needs, run: (call) => describeAccess(options, call) },
  ];
}

async function describeAccess(options: DetailsOptions, { query, request, session }: Call) {
  const { engine, buckets, links } = options;
  const bucket = await requireBucket(engine, query.text("bucket"));
  // Keys and users reach other buckets too, so only administrators of the store see them.
  const isComplete = allows(session.permissions, "administer");
  const policy = readPolicy(bucket, buckets);
  return json({
    keys: isComplete ? await keyRows(options, bucket) : null,
    users: isComplete ? await userRows(options, bucket.name) : null,
    statements: policy?.statements ?? [],
    isPolicyPublic: policy?.isPublic ?? false,
    publication: describePublication(bucket, request, options),
    shares: (await links.list(bucket)).length,
  } satisfies AccessDocument);
}

async function keyRows({ keys }: DetailsOptions, { name, account }: Bucket): Promise<AccessKeyRow[]> {
  return (await keys.list()).flatMap((key) => {
    const rights = rightsOn(key, name, account);
    const { accessKeyId, name: title, state } = key;
    return rights === undefined ? [] : [{ accessKeyId, name: title, state, rights }];
  });
}

/** Null for full access; undefined for none. */
function rightsOn({ grants, account: owner }: KeyDocument, bucket: string, account: string) {
  if (grants === null) return owner === account ? null : undefined;
  const rights = grants.filter((grant) => grant.bucket === bucket || grant.bucket === "*");
  return rights.length === 0 ? undefined : [...new Set(rights.flatMap((grant) => grant.rights))];
}

async function userRows({ users, tokens }: DetailsOptions, bucket: string): Promise<AccessUserRow[]> {
  const rows = (kind: "user" | "token", name: string, permissions: Permissions): AccessUserRow[] => {
    const role = roleOn(permissions, bucket);
    return role === undefined ? [] : [{ kind, name, role }];
  };
  const ofUsers = (await users.list()).flatMap(({ name, permissions }) => rows("user", name, permissions));
  const ofTokens = (await tokens.list())
    .filter(({ user, state }) => user === undefined && state === "active")
    .flatMap(({ name, permissions }) => rows("token", name, permissions));
  return [...ofUsers, ...ofTokens];
}

function roleOn(permissions: Permissions, bucket: string): Role | undefined {
  const rights = { viewer: "view", editor: "edit", administrator: "administer" } as const;
  return roles.findLast((role) => allows(permissions, rights[role], bucket));
}

/** A policy that an earlier release accepted may no longer be valid; it then allows nothing. */
function readPolicy({ name, settings }: Bucket, buckets: ConsoleBuckets): ParsedPolicy | undefined {
  try {
    return settings.policy === undefined ? undefined : buckets.parsePolicy(settings.policy, name);
  } catch {
    return undefined;
  }
}

function describePublication(
  bucket: Bucket,
  request: HttpRequest,
  options: Pick<DetailsOptions, "buckets" | "url">,
): BucketDetailsDocument["publication"] {
  const { publication } = bucket.settings;
  if (publication === undefined) return null;
  return { url: publicUrl(bucket, request, options) ?? null, domains: publication.domains ?? [] };
}

/** URL of a public bucket, with a slash at its end; undefined if it is not public or not served. */
export function publicUrl(
  { name, settings: { publication } }: Bucket,
  request: HttpRequest,
  { buckets, url }: Pick<DetailsOptions, "buckets" | "url">,
): string | undefined {
  if (publication === undefined) return undefined;
  const [domain] = publication.domains ?? [];
  // With a proxy in front of the console, the port of public buckets is usually behind it, too.
  if (domain !== undefined && url !== undefined) return `${new URL(url).protocol}//${domain}/`;
  const port = buckets.publicPort();
  if (port === undefined) return undefined;
  const host = (request.header("host") ?? "localhost").replace(/:\d*$/, "");
  return `${request.scheme}://${host}:${port}/${encodePath(name)}/`;
}
