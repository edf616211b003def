// The files of the page as the server sends them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { transformSync } from "esbuild";
import { withoutComments } from "../../src/console/page-files.ts";
import { root } from "../cli/store.ts";

test("files of the page are served without comments and otherwise unchanged", () => {
  const folder = `${root}/src/console/page`;
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const commentLine = /^\s*(?:\/\/|\/\*|\*\/)/m;
  for (const name of names.filter((one) => /\.(?:js|css)$/.test(one))) {
    const loader = name.endsWith(".js") ? "js" : "css";
    const plain = (code: string) =>
      transformSync(code, { loader, minifyWhitespace: true, legalComments: "none" }).code;
    const code = readFileSync(`${folder}/${name}`, "utf8");
    const served = withoutComments(code);
    assert.doesNotMatch(served, commentLine, name);
    assert.equal(plain(served), plain(code), name);
    assert.equal(served.split("\n").length, code.split("\n").length, name);
  }
});
