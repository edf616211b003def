// Addresses of the page's files that contain a version: browsers cache them forever and load the page
// without asking for each file again. The version changes with any file.
import { createHash } from "node:crypto";
import { posix } from "node:path";

/** Modules of the first page. What they import is loaded with them instead of one after another. */
const firstModules = ["/app.js", "/pages/overview.js"];

export interface PageVersion {
  /** The start of every address with this version. */
  readonly prefix: string;
  /** Returns the page with addresses of this version, and with all modules that it needs at first. */
  rewrite(html: string): string;
}

/** `files` are the contents by path, without the page itself. */
export function pageVersion(files: ReadonlyMap<string, string>): PageVersion {
  const hash = createHash("sha256");
  for (const path of [...files.keys()].sort()) hash.update(`${path}\0${files.get(path)}\0`);
  const prefix = `/${hash.digest("hex").slice(0, 16)}`;
  const preloads = importedModules(files).map(
    (path) => `    <link rel="modulepreload" href="${prefix}${path}" />\n`,
  );
  return {
    prefix,
    rewrite: (html) =>
      html
        .replace(/(href|src)="(\/[^"]+\.(?:js|css))"/g, `$1="${prefix}$2"`)
        .replace("  </head>", `${preloads.join("")}  </head>`),
  };
}

/** Returns the first modules and all that they import, directly or not, in the order of loading. */
function importedModules(files: ReadonlyMap<string, string>): string[] {
  const found = new Set(firstModules.filter((path) => files.has(path)));
  for (const path of found) {
    for (const [, specifier] of files.get(path)!.matchAll(/^(?:import|export)\b[^;"]*"(\.[^"]+)";$/gm)) {
      const imported = posix.join(posix.dirname(path), specifier!);
      if (files.has(imported)) found.add(imported);
    }
  }
  return [...found];
}
