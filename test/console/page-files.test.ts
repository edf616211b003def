// The files of the page as the server sends them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { transformSync } from "esbuild";
import { withoutComments } from "../../src/console/page-files.ts";
import { pageVersion } from "../../src/console/page-version.ts";
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

test("the page loads its files by addresses with a version, and all modules of the first page at once", () => {
  const files = new Map([
    [
      "/app.js",
      'import { a } from "./frame/a.js";\nimport {\n  b,\n} from "./b.js";\nimport("./later.js");\n',
    ],
    ["/frame/a.js", 'export { c } from "../c.js";\n'],
    ["/b.js", ""],
    ["/c.js", 'import "./b.js";\n'],
    ["/later.js", ""],
    ["/styles/base.css", ""],
  ]);
  const { prefix, rewrite } = pageVersion(files);
  const html = rewrite('<head>\n    <script type="module" src="/app.js"></script>\n  </head>\n');
  const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address);
  assert.deepEqual(
    addresses,
    ["/app.js", "/app.js", "/frame/a.js", "/b.js", "/c.js"].map((path) => prefix + path),
  );
  assert.notEqual(pageVersion(new Map([...files, ["/b.js", "changed"]])).prefix, prefix);
});
