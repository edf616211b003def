// HTMLRewriter: matches of selectors, and unsupported selectors.
import assert from "node:assert/strict";
import { test } from "node:test";
import { script } from "../installed.ts";
import { found } from "./rewriting.ts";

const page = `
  <html id=html><body id=body class="a b">
  <div id=d1 class="a"><p id=p1 class=b lang=en-US><a id=a1 href="/x/1.png" rel="no-follow external">1</a></p></div>
  <div id=d2 data-x="ÄÖ"><section id=s><p id=p2 lang=en><a id=a2 href="https://é.example/x.png">2</a></p></section>
  <A id=a3 HREF="/x/2.PNG" title="">3</A><img id=i></div>
  </body></html>`;

const finds: readonly (readonly [string, string])[] = [
  ["a", "a1 a2 a3"],
  ["A", "a1 a2 a3"],
  ["*", "html body d1 p1 a1 d2 s p2 a2 a3 i"],
  ["#p1", "p1"],
  [".a", "body d1"],
  [".b.a", "body"],
  ["div.a", "d1"],
  ["p.b#p1[lang]", "p1"],
  ["[title]", "a3"],
  ["[TITLE]", "a3"],
  ["[title='']", "a3"],
  ["[lang=en]", "p2"],
  ["[lang|=en]", "p1 p2"],
  ["[ href ^= '/x' ]", "a1 a3"],
  ["[href$='.png']", "a1 a2"],
  ["[href$='.png' i]", "a1 a2 a3"],
  ["[href*=example]", "a2"],
  ["[href*='é']", "a2"],
  ["[data-x=ÄÖ]", "d2"],
  ["[rel~=external]", "a1"],
  ["[rel~=follow]", ""],
  ["[href^='']", ""],
  ["div a", "a1 a2 a3"],
  ["div > a", "a3"],
  ["div>a", "a3"],
  ["div p > a", "a1 a2"],
  ["body > div section a", "a2"],
  ["div section > a", ""],
  ["body div > section > p > a", "a2"],
  ["#d1 a, img, #d1 a", "a1 i"],
  [" p , section ", "p1 s p2"],
  ["p:not(.b)", "p2"],
  ["a:not([rel], [title])", "a2"],
  ["div:not(#d1) a", "a2 a3"],
  ["div:first-child", "d1"],
  ["div > :nth-child(2)", "a3"],
  ["div > :nth-child(odd)", "p1 s i"],
  ["div > *:nth-child(n+2)", "a3 i"],
  ["div > *:nth-child(-n+2)", "p1 s a3"],
  ["div > *:nth-child( 3n + 1 )", "p1 s"],
  ["div:nth-of-type(2)", "d2"],
  ["a:first-of-type", "a1 a2 a3"],
  ["#\\64 1", "d1"],
];

test("HTMLRewriter selectors match as in CSS", async () => {
  for (const [selector, expected] of finds) assert.equal(await found(page, selector), expected, selector);
});

test("HTMLRewriter selectors match names with escaped characters", async () => {
  assert.equal(await found(`<p id="a:b" class="md:w-1/2">`, "#a\\:b.md\\:w-1\\/2"), "a:b");
  assert.equal(await found("<my-element id=x><é id=y>", "my-element"), "x");
});

test("an element that matches an HTMLRewriter selector list twice is handled once", async () => {
  assert.equal(await found("<p id=x class=a>", "p, .a, #x"), "x");
});

test("an unsupported HTMLRewriter selector throws a TypeError that lists the supported selectors", () => {
  const wrong = [
    "",
    " ",
    ",",
    "a,",
    "a + b",
    "a ~ b",
    "a:hover",
    "a::before",
    "> a",
    "a >",
    "a > > b",
    "#",
    ".",
    "a b)",
  ];
  for (const selector of [
    ...wrong,
    "[",
    "[a",
    "[a=]",
    "[a='b]",
    "a[b!=c]",
    "#1",
    "a:not()",
    "a:not(b c)",
    "ns|a",
  ]) {
    const use = () => new script.HTMLRewriter().on(selector, {});
    assert.throws(use, { name: "TypeError", message: /It knows tags, \*, \.class, #id, \[attr\]/ }, selector);
  }
  assert.throws(() => new script.HTMLRewriter().on("a + b", {}), /"a \+ b" at "\+ b"/);
});
