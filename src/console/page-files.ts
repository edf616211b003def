// Serves the files of the page from memory. Browsers revalidate each file by its etag.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { HttpRequest, HttpResponse } from "../http/server/listen.ts";

interface PageFile {
  readonly bytes: Uint8Array;
  readonly etag: string;
  readonly type: string;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Paths of the page itself. OpenID providers send the browser to the second. */
const pagePaths = ["/", "/signed-in"];

export type PageFiles = (request: HttpRequest, path: string) => HttpResponse | undefined;

export function loadPageFiles(folder: string): PageFiles {
  const files = new Map<string, PageFile>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const bytes = readFileSync(join(folder, name));
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    const file = { bytes, etag, type };
    for (const path of name === "index.html" ? pagePaths : [`/${name}`]) files.set(path, file);
  }
  return (request, path) => {
    const file = request.method === "GET" || request.method === "HEAD" ? files.get(path) : undefined;
    if (file === undefined) return undefined;
    const headers: [string, string][] = [
      ["content-type", file.type],
      ["etag", file.etag],
      ["cache-control", "no-cache"],
    ];
    const isUnchanged = request.header("if-none-match") === file.etag;
    return isUnchanged ? { status: 304, headers, body: null } : { status: 200, headers, body: file.bytes };
  };
}
