// Maps console requests to entries of the audit log.
import type { AggregatedEntry } from "../../audit/aggregate.ts";
import type { AuditAction, AuditEntry } from "../../audit/audit-log.ts";
import type { HttpResponse } from "../../http/server/listen.ts";
import { parseTokenId } from "../auth/tokens.ts";
import type { Call } from "../route.ts";
import type { NewTokenDocument } from "../wire-administration.ts";
import type { CopiedDocument, EmptiedDocument, ShareDocument } from "../wire-bucket.ts";
import type { SessionDocument } from "../wire-session.ts";
import type { DeletedDocument } from "../wire-types.ts";

export interface AuditedAction {
  readonly action: AuditAction;
  readonly subject?: string | undefined;
  readonly detail?: string | undefined;
  readonly count?: number;
  /** Name of the user, if it is not the name of the session. */
  readonly name?: string | undefined;
}

type SessionlessCall = Omit<Call, "session">;
type ReadAction = (
  call: SessionlessCall,
  response: HttpResponse,
) => AuditedAction | undefined | Promise<AuditedAction | undefined>;

/** The action of a change to a bucket's settings or rules, by the kind in the query. */
const settingActions: ReadonlyMap<string, AuditAction> = new Map([
  ["cors", "change cors"],
  ["lifecycle", "change lifecycle"],
  ["locks", "change lock rules"],
  ["versioning", "change versioning"],
  ["objectLock", "change object lock"],
  ["tags", "change tags"],
  ["policy", "change policy"],
  ["publicAccessBlock", "change public access"],
  ["publication", "change publication"],
  ["quota", "change quota"],
  ["encryption", "change encryption"],
]);

const onBucketSetting: ReadAction = async ({ query, fields }) => {
  const kind = query.text("kind");
  const action = settingActions.get(kind);
  const isPublication = kind === "publication";
  const detail = isPublication && ((await fields()).object(kind) === undefined ? "private" : "public");
  return action && { action, subject: query.text("bucket"), detail: detail || undefined };
};

const onNotification: ReadAction = async ({ query, fields, request }) => ({
  action: "change notifications",
  subject: request.method === "DELETE" ? query.text("bucket") : (await fields()).text("bucket"),
});

const onKey =
  (action: AuditAction): ReadAction =>
  ({ query }) => ({ action, subject: query.text("key") });

const onUser =
  (action: AuditAction): ReadAction =>
  async ({ fields }) => ({ action, subject: (await fields()).text("name") });

const onSecret =
  (action: AuditAction): ReadAction =>
  ({ query }) => ({ action, subject: `${query.text("script")}/${query.text("name")}` });

/** Characters of the keys in one entry. */
const maxDetail = 2000;

const actionReaders: Readonly<Record<string, ReadAction>> = {
  "POST /api/buckets": async ({ fields }) => ({
    action: "create bucket",
    subject: (await fields()).text("name"),
  }),
  "DELETE /api/buckets": ({ query }) => ({ action: "delete bucket", subject: query.text("bucket") }),
  "PUT /api/rules": onBucketSetting,
  "PUT /api/settings": onBucketSetting,
  "POST /api/objects/restore": async ({ fields }) => {
    const given = await fields();
    // Recorded once, with the first page.
    if (given.flag("isDryRun") || given.optionalText("cursor") !== undefined) return undefined;
    return { action: "restore bucket", subject: given.text("bucket") };
  },
  "POST /api/buckets/empty": async ({ fields }, { body }) => {
    const { deleted } = JSON.parse(String(body)) as EmptiedDocument;
    const subject = (await fields()).text("bucket");
    return deleted === 0 ? undefined : { action: "delete objects", subject, count: deleted };
  },
  "POST /api/objects/copy": async ({ fields }, { body }) => {
    const given = await fields();
    const { copied } = JSON.parse(String(body)) as CopiedDocument;
    // Only a move deletes; a copy is a write like any other.
    if (!given.flag("isMove") || copied === 0) return undefined;
    const prefix = given.optionalText("prefix");
    const moved = prefix === undefined ? (given.list("names") ?? []) : [{ from: `${prefix}*` }];
    const keys = moved.map((name) => String((name as { from: string }).from)).join(", ");
    const detail = `moved: ${keys.slice(0, maxDetail)}`;
    return { action: "delete objects", subject: given.text("bucket"), detail, count: copied };
  },
  "POST /api/shares": async ({ fields }, { body }) => ({
    action: "create share link",
    subject: (await fields()).text("bucket"),
    detail: shareDetail(JSON.parse(String(body)) as ShareDocument),
  }),
  "DELETE /api/shares": ({ query }) => ({
    ...{ action: "revoke share link", subject: query.text("bucket"), detail: query.text("id") },
  }),
  "POST /api/notifications": onNotification,
  "DELETE /api/notifications": onNotification,
  // The id of a new key is only in the response.
  "POST /api/keys": async ({ fields }, { body }) => ({
    action: (await fields()).object("existing") === undefined ? "create key" : "import key",
    subject: (JSON.parse(String(body)) as { accessKeyId: string }).accessKeyId,
  }),
  "POST /api/keys/rotate": onKey("rotate key"),
  "POST /api/keys/disable": onKey("disable key"),
  "POST /api/keys/enable": onKey("enable key"),
  "DELETE /api/keys": onKey("delete key"),
  "POST /api/objects/delete": async ({ fields }, { body }) => {
    const given = await fields();
    const { deleted } = JSON.parse(String(body)) as DeletedDocument;
    if (deleted === 0) return undefined;
    const prefix = given.optionalText("prefix");
    const detail = prefix === undefined ? (given.list("keys") ?? []).join(", ") : `${prefix}*`;
    return { action: "delete objects", subject: given.text("bucket"), detail, count: deleted };
  },
  "POST /api/versions/delete": async ({ fields }) => {
    const given = await fields();
    return { action: "delete objects", subject: given.text("bucket"), detail: given.text("key"), count: 1 };
  },
  "PUT /api/object/retention": async ({ fields }) => {
    const given = await fields();
    const action = given.flag("bypassGovernance") ? "bypass retention" : "change retention";
    return { action, subject: given.text("bucket"), detail: given.text("key") };
  },
  "PUT /api/object/legal-hold": async ({ fields }) => {
    const given = await fields();
    return { action: "change legal hold", subject: given.text("bucket"), detail: given.text("key") };
  },
  "PUT /api/accounts/quota": async ({ fields }) => ({
    action: "change quota",
    subject: (await fields()).text("account"),
  }),
  "POST /api/users": onUser("create user"),
  "PUT /api/users": onUser("change user"),
  "DELETE /api/users": ({ query }) => ({ action: "delete user", subject: query.text("name") }),
  "POST /api/tokens": (_, { body }) => ({
    action: "create token",
    subject: (JSON.parse(String(body)) as NewTokenDocument).id,
  }),
  "DELETE /api/tokens": ({ query }) => ({ action: "revoke token", subject: query.text("id") }),
  "PUT /api/scripts/secrets": onSecret("put secret"),
  "DELETE /api/scripts/secrets": onSecret("delete secret"),
  "POST /api/scripts/restart": ({ query }) => ({ action: "restart script", subject: query.text("script") }),
  "POST /api/session": (_, { body }) => ({
    action: "sign in",
    name: (JSON.parse(String(body)) as SessionDocument).name,
  }),
  "POST /api/sign-in/finish": (_, { body }) => ({
    action: "sign in",
    name: (JSON.parse(String(body)) as SessionDocument).name,
  }),
  "DELETE /api/session": () => ({ action: "sign out" }),
  "DELETE /api/sessions": ({ query }) => ({ action: "end session", subject: query.text("id") }),
};

/** The id, not the secret in the URL. */
function shareDetail({ id, key }: ShareDocument): string {
  return `${id} ${key}`;
}

/** Call after the request has succeeded. Undefined if the request is not audited. */
export async function findAuditedAction(
  name: string,
  call: SessionlessCall,
  response: HttpResponse,
): Promise<AuditedAction | undefined> {
  return Object.hasOwn(actionReaders, name) ? actionReaders[name]!(call, response) : undefined;
}

/** A request that the user's role does not allow. */
export function toDenial(
  name: string,
  bucket: string | undefined,
  by: Omit<AuditEntry["by"], "face">,
): AggregatedEntry {
  // The client may name anything; only what can be a bucket is recorded.
  const subject = /^[a-z0-9.-]{3,63}$/.test(bucket ?? "") ? bucket : undefined;
  return { act: "deny request", subject, detail: name, by: { face: "console", ...by } };
}

/** Counts refused sign-ins. At most one entry per second is recorded, because anyone can try. */
export function createRefusals(
  now: () => number,
): (call: SessionlessCall) => Promise<AuditedAction | undefined> {
  let recordedAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  return async ({ fields }) => {
    count++;
    if (Math.abs(now() - recordedAt) < refusalMilliseconds) return undefined;
    recordedAt = now();
    const refusal: AuditedAction = {
      action: "refuse sign-in",
      count,
      // An OpenID sign-in has no token.
      name: parseTokenId((await fields()).optionalText("token")?.trim() ?? ""),
    };
    count = 0;
    return refusal;
  };
}

const refusalMilliseconds = 1000;
