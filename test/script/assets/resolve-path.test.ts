// Resolution of request paths to assets, for every html_handling and not_found_handling.
import assert from "node:assert/strict";
import { test } from "node:test";
import { resolvePath } from "../../../src/script/assets/resolve-path.ts";
import type { AssetsOptions } from "../../../src/script/bindings.ts";

const files = new Set([
  "/index.html",
  "/page.html",
  "/folder/index.html",
  "/both.html",
  "/both/index.html",
  "/bin",
  "/bin.html",
  "/data.json",
  "/raw/index",
]);

type Html = AssetsOptions["htmlHandling"];

function resolved(
  path: string,
  htmlHandling: Html,
  notFoundHandling: AssetsOptions["notFoundHandling"] = "none",
) {
  const found = resolvePath(path, files, { htmlHandling, notFoundHandling });
  if (found === undefined) return "nothing";
  return found.kind === "redirect" ? `→ ${found.path}` : `${found.status} ${found.path}`;
}

/** A request path, and its result with auto-, force- and drop-trailing-slash. */
const matrix: readonly (readonly [string, string, string, string])[] = [
  ["/", "200 /index.html", "200 /index.html", "200 /index.html"],
  ["/index", "→ /", "→ /", "→ /"],
  ["/index.html", "→ /", "→ /", "→ /"],
  ["/page", "200 /page.html", "→ /page/", "200 /page.html"],
  ["/page/", "→ /page", "200 /page.html", "→ /page"],
  ["/page.html", "→ /page", "→ /page/", "→ /page"],
  ["/page/index", "→ /page", "→ /page/", "→ /page"],
  ["/page/index.html", "→ /page", "→ /page/", "→ /page"],
  ["/folder", "→ /folder/", "→ /folder/", "200 /folder/index.html"],
  ["/folder/", "200 /folder/index.html", "200 /folder/index.html", "→ /folder"],
  ["/folder.html", "→ /folder/", "→ /folder/", "→ /folder"],
  ["/folder/index", "→ /folder/", "→ /folder/", "→ /folder"],
  ["/folder/index.html", "→ /folder/", "→ /folder/", "→ /folder"],
  ["/both", "200 /both.html", "→ /both/", "200 /both.html"],
  ["/both/", "200 /both/index.html", "200 /both/index.html", "→ /both"],
  ["/both.html", "→ /both", "200 /both.html", "→ /both"],
  ["/both/index.html", "→ /both/", "→ /both/", "200 /both/index.html"],
  ["/bin", "200 /bin", "200 /bin", "200 /bin"],
  ["/bin.html", "200 /bin.html", "→ /bin/", "200 /bin.html"],
  ["/bin/", "nothing", "200 /bin.html", "nothing"],
  ["/data.json", "200 /data.json", "200 /data.json", "200 /data.json"],
  ["/raw/index", "200 /raw/index", "200 /raw/index", "200 /raw/index"],
  ["/raw/", "nothing", "nothing", "nothing"],
  ["/missing", "nothing", "nothing", "nothing"],
];

test("html_handling determines at which path an HTML page is served and which paths redirect there", () => {
  for (const [path, auto, force, drop] of matrix) {
    assert.equal(resolved(path, "auto-trailing-slash"), auto, `auto ${path}`);
    assert.equal(resolved(path, "force-trailing-slash"), force, `force ${path}`);
    assert.equal(resolved(path, "drop-trailing-slash"), drop, `drop ${path}`);
  }
});

test("with html_handling none, every file is served at its own path and nothing redirects", () => {
  for (const [path] of matrix) {
    assert.equal(resolved(path, "none"), files.has(path) ? `200 ${path}` : "nothing", path);
  }
});

test("every redirect of html_handling leads directly to an asset, never to another redirect", () => {
  for (const html of ["auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash"] as const) {
    for (const [path] of matrix) {
      const [, target] = /^→ (.*)/.exec(resolved(path, html)) ?? [];
      if (target !== undefined) assert.match(resolved(target, html), /^200/, `${html} ${path}`);
    }
  }
});

test("not_found_handling single-page-application serves /index.html for every path without an asset", () => {
  assert.equal(
    resolved("/missing/deep", "auto-trailing-slash", "single-page-application"),
    "200 /index.html",
  );
  assert.equal(resolved("/page", "auto-trailing-slash", "single-page-application"), "200 /page.html");
  const rules = { htmlHandling: "none", notFoundHandling: "single-page-application" } as const;
  assert.equal(resolvePath("/missing", new Set(["/a"]), rules), undefined);
});

test("not_found_handling 404-page serves the 404.html of the nearest parent folder", () => {
  const pages = new Set(["/404.html", "/docs/404.html", "/docs/old/a.html"]);
  const rules = { htmlHandling: "auto-trailing-slash", notFoundHandling: "404-page" } as const;
  const nearest = (path: string) => resolvePath(path, pages, rules);
  assert.deepEqual(nearest("/x"), { kind: "asset", path: "/404.html", status: 404 });
  assert.deepEqual(nearest("/docs"), { kind: "asset", path: "/404.html", status: 404 });
  assert.deepEqual(nearest("/docs/x"), { kind: "asset", path: "/docs/404.html", status: 404 });
  assert.deepEqual(nearest("/docs/old/deeper/x"), { kind: "asset", path: "/docs/404.html", status: 404 });
  assert.equal(resolvePath("/x", new Set(), rules), undefined);
});
