// Checks the built documentation: no dead links, every page listed and reachable, nothing loaded from
// elsewhere.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { buildSite } from "../../../docs-site/build-site.ts";
import { renderMarkdown } from "../../../docs-site/render-markdown.ts";
import { readSiteMap } from "../../../docs-site/site-map.ts";
import { root } from "../../cli/store.ts";
import { anchorsIn, htmlPages, resolveLink, targetsIn } from "./links.ts";

const site = buildSite({ root });
const pages = htmlPages(site);

test("docs/site.json lists every page of docs/ exactly once", () => {
  const { home, sections } = readSiteMap(root);
  const listed = [home, ...sections.flatMap(({ files }) => files)];
  const existing = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  assert.deepEqual(listed.filter((file) => file.startsWith("docs/")).sort(), existing.sort());
});

test("every link and every picture of the site leads to an existing file and anchor", () => {
  const anchors = new Map(pages.map(([url, html]) => [url, anchorsIn(html)]));
  for (const [page, html] of pages) {
    for (const target of targetsIn(html)) {
      const resolved = resolveLink(page, target);
      if (resolved === undefined) continue;
      assert.ok(site.files.has(resolved.url), `${page} links to ${target}`);
      if (resolved.anchor !== undefined)
        assert.ok(anchors.get(resolved.url)?.includes(resolved.anchor), `${page} links to ${target}`);
    }
  }
});

test("no page has an anchor twice", () => {
  for (const [page, html] of pages) {
    const anchors = anchorsIn(html);
    assert.deepEqual(anchors, [...new Set(anchors)], page);
  }
});

test("every page can be reached from the front page without the navigation", () => {
  const html = new Map(pages.map(([url, text]) => [url, text.replace(/<nav .*<\/nav>/s, "")]));
  const reached = new Set(["index.html"]);
  const open = ["index.html"];
  for (let page = open.pop(); page !== undefined; page = open.pop()) {
    for (const target of targetsIn(html.get(page) ?? "")) {
      const url = resolveLink(page, target)?.url;
      if (url === undefined || reached.has(url)) continue;
      reached.add(url);
      open.push(url);
    }
  }
  const missed = pages.map(([url]) => url).filter((url) => !reached.has(url));
  assert.deepEqual(missed, ["404.html"]);
});

test("pages load nothing from other hosts and contain no code", () => {
  for (const [page, html] of pages) {
    const [head = ""] = html.split("</head>");
    for (const target of targetsIn(head)) assert.doesNotMatch(target, /^[a-z]+:/, page);
    assert.match(head, /http-equiv="Content-Security-Policy" content="default-src 'none'; /, page);
    assert.doesNotMatch(html, /<script(?! src=")|<style| style="| on[a-z]+="/, page);
  }
  for (const name of ["search.js", "theme.js", "site.css"]) {
    const text = readFileSync(join(root, "docs-site/assets", name), "utf8");
    assert.doesNotMatch(text, /https?:|@import|innerHTML|\beval\b/, name);
  }
});

test("the search index names existing sections and fits in 300 kB", () => {
  const script = String(site.files.get("assets/search-index.js"));
  assert.ok(script.length < 1_200_000, `${script.length} bytes`);
  const { sections, words } = JSON.parse(script.slice(script.indexOf("{"), script.lastIndexOf(";"))) as {
    sections: [url: string, page: string, heading: string][];
    words: Record<string, number[]>;
  };
  const anchors = new Map(pages.map(([url, html]) => [url, anchorsIn(html)]));
  for (const [target] of sections) {
    const [url = "", anchor] = target.split("#");
    assert.ok(anchors.has(url), target);
    if (anchor !== undefined) assert.ok(anchors.get(url)!.includes(anchor), target);
  }
  const found = (words.versioning ?? []).map((number) => sections[number]![0]);
  assert.ok(
    found.some((url) => url.startsWith("versions.html")),
    "versioning is found",
  );
});

test("HTML in a page is shown as text, comments are omitted, and a wrong link fails the build", () => {
  const resolve = (target: string) => ({ href: target });
  const { html, headings } = renderMarkdown(
    "# A\n\n<!-- x -->\n\n<b onclick=x>b</b>\n\n## A\n\n`<i>`",
    resolve,
  );
  assert.deepEqual(
    headings.map(({ anchor }) => anchor),
    ["a", "a-1"],
  );
  assert.doesNotMatch(html, /<!--|<b |<i>/);
  assert.match(html, /&lt;b onclick=x&gt;/);
});
