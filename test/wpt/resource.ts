// Reads files of a checkout as its own server would serve them: with placeholders replaced, and
// with the headers of a `.headers` file.
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";

export interface Resource {
  readonly body: Buffer;
  readonly headers: readonly (readonly [string, string])[];
}

/** Paths that the checkout's own server maps to other files. */
const aliases: Readonly<Record<string, string>> = {
  "resources/WebIDLParser.js": "resources/webidl2/lib/webidl2.js",
};

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".txt": "text/plain",
  ".xml": "text/xml",
};

/** Reads a file; returns undefined if it does not exist. `path` has no leading slash. */
export function readResource(checkout: string, path: string, port: number): Resource | undefined {
  if (path.split("/").includes("..")) return undefined;
  const bytes = readIfThere(join(checkout, aliases[path] ?? path));
  if (bytes === undefined) return undefined;
  const body = path.includes(".sub.") ? Buffer.from(fillIn(bytes.toString("utf8"), port)) : bytes;
  const extra = readIfThere(join(checkout, `${path}.headers`))?.toString("utf8") ?? "";
  const type = contentTypes[extname(path)];
  const headers = extra
    .split("\n")
    .map((line) => /^([^:]+):\s*(.*?)\s*$/.exec(line))
    .filter((match) => match !== null)
    .map((match) => [match[1]!, match[2]!] as const);
  const hasType = headers.some(([name]) => name.toLowerCase() === "content-type");
  return { body, headers: type === undefined || hasType ? headers : [["Content-Type", type], ...headers] };
}

/** Replaces the placeholders that the tests in scope use; there is one host and one port. */
function fillIn(text: string, port: number): string {
  return text
    .replace(/\{\{ports\[[^\]]*\]\[\d\]\}\}/g, String(port))
    .replace(/\{\{(host|domains\[[^\]]*\]|hosts\[[^\]]*\]\[[^\]]*\]|location\[hostname\])\}\}/g, "127.0.0.1")
    .replace(/\{\{location\[host\]\}\}/g, `127.0.0.1:${port}`)
    .replace(/\{\{location\[(scheme|server)\]\}\}/g, (_, part: string) =>
      part === "scheme" ? "http" : `http://127.0.0.1:${port}`,
    );
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
