// Serves the files of the page from memory, without their comments, compressed for browsers that
// accept it. Browsers cache files with a version in their address, and revalidate others by etag.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { pageVersion } from "./page-version.ts";

interface PageFile {
  readonly bytes: Uint8Array;
  /** By content encoding. Compressed at the first request, so that the server starts quickly. */
  readonly compressed: Map<string, Uint8Array>;
  readonly etag: string;
  readonly type: string;
  readonly cacheControl: string;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const pageFile = "/index.html";
/** Paths of the page itself. OpenID providers send the browser to the second. */
const pagePaths = ["/", "/signed-in"];

export type PageFiles = (request: HttpRequest, path: string) => HttpResponse | undefined;

export function loadPageFiles(folder: string): PageFiles {
  const files = new Map<string, PageFile>();
  const texts = readTexts(folder);
  const html = texts.get(pageFile) ?? "";
  texts.delete(pageFile);
  const version = pageVersion(texts);
  for (const [path, text] of texts) {
    const file = toPageFile(path, text);
    files.set(path, file);
    files.set(version.prefix + path, { ...file, cacheControl: "public, max-age=31536000, immutable" });
  }
  for (const path of pagePaths) files.set(path, toPageFile(pageFile, version.rewrite(html)));
  return (request, path) => {
    const file = request.method === "GET" || request.method === "HEAD" ? files.get(path) : undefined;
    if (file === undefined) return undefined;
    const encoding = chooseEncoding(request.header("accept-encoding") ?? "");
    const etag = encoding === undefined ? file.etag : `${file.etag.slice(0, -1)}-${encoding}"`;
    const headers: [string, string][] = [
      ["content-type", file.type],
      ["etag", etag],
      ["cache-control", file.cacheControl],
      ["vary", "accept-encoding"],
    ];
    if (request.header("if-none-match") === etag) return { status: 304, headers, body: null };
    if (encoding === undefined) return { status: 200, headers, body: file.bytes };
    const body = file.compressed.get(encoding) ?? compressors[encoding](file.bytes);
    file.compressed.set(encoding, body);
    return { status: 200, headers: [...headers, ["content-encoding", encoding]], body };
  };
}

/** Returns the contents of the files by path, as they are served. */
function readTexts(folder: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (types[extname(name)] === undefined) continue;
    const text = readFileSync(join(folder, name), "utf8");
    texts.set(`/${name}`, /\.(?:js|css)$/.test(name) ? withoutComments(text) : text);
  }
  return texts;
}

function toPageFile(path: string, text: string): PageFile {
  const bytes = Buffer.from(text);
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  return { bytes, etag, type: types[extname(path)]!, cacheControl: "no-cache", compressed: new Map() };
}

/**
 * Removes comments at the start of a line; most are types. The lines stay, so that a line in an
 * error message is that of the source.
 */
export function withoutComments(code: string): string {
  const comment = /^[ \t]*(?:\/\/.*|\/\*(?:(?!\*\/)[\s\S])*\*\/)/gm;
  return code.replace(comment, (text) => text.replace(/[^\n]/g, ""));
}

type Encoding = "br" | "gzip";

/** The best first. */
const encodings: readonly Encoding[] = ["br", "gzip"];

const compressors: Readonly<Record<Encoding, (bytes: Uint8Array) => Uint8Array>> = {
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => gzipSync(bytes),
};

/** Undefined if the client accepts none, or names one only with a weight. */
function chooseEncoding(accepted: string): Encoding | undefined {
  const names = accepted.split(",").map((name) => name.trim().toLowerCase());
  return encodings.find((encoding) => names.includes(encoding));
}
