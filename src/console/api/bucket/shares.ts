// Routes for share links, and the downloads by them, which need no session. A presigned link cannot
// be revoked; a share link is checked in the store at every download.
import type { Engine } from "../../../engine/engine.ts";
import { rangeFromHeader } from "../../../http/headers.ts";
import type { HttpRequest, HttpResponse } from "../../../http/server/listen.ts";
import { encodeText } from "../../../http/sigv4.ts";
import { StoreError } from "../../../model/errors.ts";
import type { ShareLink, ShareLinks } from "../../auth/share-links.ts";
import { ConsoleError, json, noContent } from "../../response.ts";
import { parseQuery, type Query, type Route } from "../../route.ts";
import type { NewShareDocument, ShareDocument, SharesDocument } from "../../wire-bucket.ts";
import { contentResponse } from "../content.ts";
import { requestOrigin } from "../oidc.ts";
import { requireBucket } from "../setting-changes.ts";

export interface ShareOptions {
  readonly engine: Engine;
  readonly links: ShareLinks;
  /** Public URL of the console; undefined to use the one that the client sees. */
  readonly url: string | undefined;
  readonly now: () => number;
}

const path = "/api/shares";
const sharePath = "/share/";
const maxSeconds = 366 * 24 * 3600;

export function shareRoutes(options: ShareOptions): readonly Route[] {
  const { engine, links } = options;
  return [
    {
      method: "GET",
      path,
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query }) {
        const bucket = await requireBucket(engine, query.text("bucket"));
        const shares = await links.list(bucket);
        return json({ shares: shares.map(toShareDocument) } satisfies SharesDocument);
      },
    },
    {
      method: "POST",
      path,
      needs: { right: "edit", on: "bucket", in: "body" },
      async run({ fields, request, session }) {
        const given = await fields();
        const seconds = given.number("seconds");
        if (!Number.isInteger(seconds) || seconds < 60 || seconds > maxSeconds)
          throw new ConsoleError(400, "The lifetime of a link must be between 1 minute and 366 days.");
        const bucket = await requireBucket(engine, given.text("bucket"));
        const key = given.text("key");
        await requireReadable(engine, bucket.name, key);
        const expires = options.now() + seconds * 1000;
        const created = await links.create({ bucket, key, expires, by: session.name });
        if (created === "full bucket" || created === "full store") {
          const what = created === "full bucket" ? "This bucket" : "The store";
          throw new ConsoleError(409, `${what} has too many share links.`, { hint: "Revoke some first." });
        }
        const url = shareUrl(options.url ?? requestOrigin(request), created.secret, key);
        return json({ ...toShareDocument(created.link), url } satisfies NewShareDocument, 201);
      },
    },
    {
      method: "DELETE",
      path,
      needs: { right: "edit", on: "bucket", in: "query" },
      async run({ query }) {
        const revoked = await links.revoke(query.text("bucket"), query.text("id"));
        if (revoked === undefined)
          throw new ConsoleError(404, "This link no longer exists.", { hint: "Reload the list of links." });
        return noContent();
      },
    },
  ];
}

async function requireReadable(engine: Engine, bucket: string, key: string): Promise<void> {
  const record = await engine.head(bucket, key);
  if (record === undefined) throw new StoreError("NoSuchKey");
  if (record.encryption?.keyMd5 !== undefined)
    throw new ConsoleError(
      409,
      "This object is encrypted with a customer-provided key and cannot be shared.",
    );
}

/** The name of the file is for people; only the secret counts. */
function shareUrl(origin: string, secret: string, key: string): string {
  const name = key.split("/").findLast((part) => part !== "") ?? "object";
  return `${origin}${sharePath}${secret}/${encodeText(name)}`;
}

function toShareDocument({ id, bucket, key, created, expires, by }: ShareLink): ShareDocument {
  return { id, bucket, key, created, expires, by };
}

export function isSharePath(requestPath: string): boolean {
  return requestPath.startsWith(sharePath);
}

/** Undefined if the request is not a download by a link. */
export type SharedDownloads = (
  request: HttpRequest,
  path: string,
  search: string,
) => Promise<HttpResponse | undefined>;

export function createSharedDownloads(engine: Engine, links: ShareLinks): SharedDownloads {
  return async (request, requestPath, search) => {
    if (!isSharePath(requestPath) || request.method !== "GET") return undefined;
    const [secret = ""] = requestPath.slice(sharePath.length).split("/");
    const link = await links.find(secret);
    const bucket = link && (await engine.bucket(link.bucket));
    if (link === undefined || bucket?.created !== link.bucketCreated) throw endedError();
    return download(engine, link, request, parseQuery(search));
  };
}

async function download(engine: Engine, { bucket, key }: ShareLink, request: HttpRequest, query: Query) {
  const range = rangeFromHeader(request.header("range") ?? null);
  const found = await engine.get(bucket, key, { range });
  if (found.outcome !== "found") throw endedError();
  return contentResponse(found, query, range !== undefined);
}

/** The same for all links that do not work, so that the answer reveals nothing. */
function endedError(): ConsoleError {
  return new ConsoleError(404, "This link has expired or was revoked.", {
    hint: "Ask the person who sent it for a new one.",
  });
}
