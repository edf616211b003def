// Serves the bytes of objects and their versions for downloads and previews. The content is untrusted, so a sandbox
// policy prevents it from accessing the console.
import type { Engine, GetOutcome, ObjectBytes } from "../../engine/engine.ts";
import { rangeFromHeader } from "../../http/headers.ts";
import type { HttpResponse } from "../../http/server/listen.ts";
import { StoreError } from "../../model/errors.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { Query, Route } from "../route.ts";
import type { Preview } from "../wire-types.ts";

/** Content types that browsers can show; other types are sent as application/octet-stream. */
const previewKinds: ReadonlyMap<string, Preview> = new Map([
  ...["png", "jpeg", "gif", "webp", "avif", "bmp", "svg+xml", "x-icon", "vnd.microsoft.icon"].map(
    (type) => [`image/${type}`, "image"] as const,
  ),
  ...["mp4", "webm", "ogg", "quicktime"].map((type) => [`video/${type}`, "video"] as const),
  ...["mpeg", "mp4", "aac", "ogg", "wav", "webm", "flac", "x-wav", "x-m4a"].map(
    (type) => [`audio/${type}`, "audio"] as const,
  ),
  ["application/pdf", "pdf"],
]);

const textTypes = new Set([
  "application/xml",
  "application/javascript",
  "application/toml",
  "application/yaml",
]);

/** Kinds of text by the end of the key, for objects without a useful content type. */
const textEnds: ReadonlyMap<string, Preview> = new Map([
  ...["txt", "log", "js", "mjs", "ts", "tsx", "jsx", "css", "html", "xml", "py", "sh", "sql", "go", "rs"].map(
    (end) => [end, "text"] as const,
  ),
  ...["yaml", "yml", "toml", "ini", "conf", "c", "h", "java", "rb", "php"].map(
    (end) => [end, "text"] as const,
  ),
  ...([
    ["json", "json"],
    ["csv", "csv"],
    ["tsv", "csv"],
    ["md", "markdown"],
    ["markdown", "markdown"],
  ] as const),
]);

export function previewKind({ key, httpMetadata, encryption }: ObjectRecord): Preview {
  if (encryption?.keyMd5 !== undefined) return "none";
  const type = mediaType(httpMetadata.contentType);
  const byEnd = textEnds.get(/\.([a-z]+)$/i.exec(key)?.[1]?.toLowerCase() ?? "");
  if (type === "" || type === "application/octet-stream") return byEnd ?? "none";
  if (type === "text/csv" || type === "text/tab-separated-values") return "csv";
  if (type === "text/markdown" || (type === "text/plain" && byEnd === "markdown")) return "markdown";
  if (type === "application/json" || type.endsWith("+json")) return "json";
  const isText = type.startsWith("text/") || type.endsWith("+xml") || textTypes.has(type);
  return previewKinds.get(type) ?? (isText ? "text" : "none");
}

/** Reduces a Content-Type to its media type: `image/PNG; charset=…` → `image/png`. */
function mediaType(contentType = ""): string {
  return contentType.split(";")[0]!.trim().toLowerCase();
}

/** Policy of untrusted content: it has an opaque origin, and no scripts, forms or cookies. */
const sandbox = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

export function contentRoutes(engine: Engine): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/content",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query, request }) {
        const etag = query.optional("etag");
        const range = rangeFromHeader(request.header("range") ?? null);
        const found = await engine.get(query.text("bucket"), query.text("key"), {
          range,
          version: query.optional("version"),
          time: query.time("at"),
          condition: etag === undefined ? undefined : { etagMatches: [{ value: etag, weak: false }] },
        });
        if (found.outcome === "missing") throw new StoreError("NoSuchKey");
        if (found.outcome === "refused") throw new StoreError("PreconditionFailed");
        return contentResponse(found, query, range !== undefined);
      },
    },
  ];
}

export function contentResponse(
  { record, range, bytes }: Extract<GetOutcome, { outcome: "found" }>,
  query: Query,
  isPart: boolean,
): HttpResponse {
  const isPreview = query.text("as") === "preview";
  const type = mediaType(record.httpMetadata.contentType);
  const headers: [string, string][] = [
    ["content-type", isPreview && previewKinds.has(type) ? type : "application/octet-stream"],
    ["content-disposition", `${isPreview ? "inline" : "attachment"}; ${fileNameParameter(record.key)}`],
    ["content-security-policy", sandbox],
    ["cache-control", "private, no-store"],
    ["accept-ranges", "bytes"],
    ["etag", `"${record.etag}"`],
  ];
  const encoding = record.httpMetadata.contentEncoding;
  // The browser decompresses a preview; a download keeps the bytes as they are stored.
  if (isPreview && encoding !== undefined && /^(gzip|br|deflate)$/i.test(encoding)) {
    headers.push(["content-encoding", encoding]);
  }
  if (isPart) {
    const { offset, length } = range;
    headers.push(["content-range", `bytes ${offset}-${offset + length - 1}/${record.size}`]);
  }
  return { status: isPart ? 206 : 200, headers, body: bytes.inline ?? toByteStream(bytes) };
}

/** Converts to a stream, to send the bytes or to store them again. */
export function toByteStream(bytes: ObjectBytes) {
  return {
    length: bytes.length,
    chunks: () => bytes.chunks(),
    release: (chunk: Uint8Array) => bytes.release?.(chunk),
    cancel: () => bytes.cancel(),
  };
}

/** The part of the key after the last slash, encoded as in RFC 8187. */
export function fileNameParameter(key: string): string {
  const name = key.split("/").findLast((part) => part !== "") ?? "object";
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `filename*=UTF-8''${encoded}`;
}
