// HTMLRewriter: parsing of documents with omitted tags, and of text that resembles markup.
import assert from "node:assert/strict";
import { test } from "node:test";
import { script } from "../installed.ts";
import { type Element, found, onElements, rewrite, type Text } from "./rewriting.ts";

/** Returns the text inside elements that match the selector, as text handlers receive it. */
async function textIn(html: string, selector: string): Promise<string> {
  let seen = "";
  const text = (piece: Text) => {
    seen += piece.text;
  };
  assert.equal(await rewrite(html, selector, { text }), html);
  return seen;
}

test("HTMLRewriter does not parse markup inside text-only elements such as script and title", async () => {
  for (const name of [
    "script",
    "style",
    "textarea",
    "title",
    "xmp",
    "iframe",
    "noembed",
    "noframes",
    "noscript",
  ]) {
    const inside = `a<b id=no></b><!-- </${name}x> </ ${name}> `;
    const html = `<${name}>${inside}</${name.toUpperCase()} ><b id=yes>`;
    assert.equal(await found(html, "b"), "yes", name);
    assert.equal(await textIn(html, name), inside, name);
  }
  assert.equal(await found("<plaintext><b id=no></plaintext><b id=no>", "b"), "");
});

test("HTMLRewriter ends a script element where the HTML standard ends it", async () => {
  const scripts: [string, string][] = [
    [`if (a < b && "</p>") {}`, ""],
    [`<!-- x -->`, ""],
    [`<!-- <script> </script> -->`, ""],
    [`<!--<script></script><!---->`, ""],
    [`<!-->`, ""],
    [`<!-- <script>`, "</script></script>"],
    [`<!-- `, "</script>"],
    [`"<\\/script>"`, ""],
  ];
  for (const [inside, rest] of scripts) {
    const end = rest === "" ? "</script>" : "";
    const html = `<script>${inside}${end}${rest}<b id=yes>`;
    assert.equal(await found(html, "b"), "yes", inside);
  }
});

test("HTMLRewriter ends elements without an end tag where the HTML standard ends them", async () => {
  const remove = (html: string, selector: string) =>
    onElements(html, selector, (element) => element.remove());
  assert.equal(await remove("<ul><li id=a>1<li>2<li>3</ul>4", "#a"), "<ul><li>2<li>3</ul>4");
  assert.equal(await remove("<p id=a>1<div>2</div>", "p"), "<div>2</div>");
  assert.equal(await remove("<p>1<p id=a>2<p>3", "#a"), "<p>1<p>3");
  assert.equal(await remove("<dl><dt>1<dd id=a>2<dt>3</dl>", "#a"), "<dl><dt>1<dt>3</dl>");
  assert.equal(await remove("<table><tr id=a><td>1<td>2<tr><td>3</table>", "#a"), "<table><tr><td>3</table>");
  assert.equal(await remove("<table><tr><td id=a>1<td>2</table>", "#a"), "<table><tr><td>2</table>");
  assert.equal(await remove("<select><option id=a>1<option>2</select>", "#a"), "<select><option>2</select>");
  assert.equal(await remove("<div><p id=a>1</div>2", "p"), "<div></div>2");
  assert.equal(await found("<ul><li id=a><li id=b><ul><li id=c></ul><li id=d></ul>", "ul > li"), "a b c d");
  assert.equal(await found("<head><title>x</title><body><p id=a>", "head p"), "");
});

test("an implied end tag never closes an element outside of its scope", async () => {
  assert.equal(await found("<p id=p><button><div id=x></div></button><b id=b></b></p>", "p > b"), "b");
  assert.equal(await found("<li id=a><section><li id=b></li></section><b id=c>", "li > b"), "c");
  assert.equal(await found("<tr><td><table><tr id=x></table><b id=y>", "td > b"), "y");
});

test("HTMLRewriter inserts appended content before an implied end tag", async () => {
  const html = await onElements("<ul><li>1<li>2</ul>", "li", (element) => {
    element.append("!").after("?");
    element.onEndTag((tag) => tag.before("."));
  });
  assert.equal(html, "<ul><li>1!.?<li>2!.?</ul>");
  assert.equal(await onElements("<div>a", "div", (element) => element.append("b").after("c")), "<div>abc");
});

test("HTMLRewriter leaves an end tag without a start tag unchanged", async () => {
  const html = "</b><p>1</i></p></p></>";
  assert.equal(await onElements(html, "p", (element) => element.append("!")), "</b><p>1</i>!</p></p></>");
});

test("a self-closing slash closes an SVG element, but not an HTML element", async () => {
  assert.equal(await found("<div id=d/><b id=b>", "div > b"), "b");
  assert.equal(await found("<svg><g/><b2 id=x /></svg>", "g b2"), "");
  assert.equal(await found("<svg><script/><style/><title/><a id=a></svg>", "a"), "a");
  assert.equal(await found("<svg><style><a id=a></a></style></svg>", "style > a"), "a");
  const closed = await onElements("<svg><g/></svg>", "g", (element) => element.after("x").append("no"));
  assert.equal(closed, "<svg><g/>x</svg>");
});

test("SVG and MathML elements have their own namespaces, and HTML elements inside them the HTML namespace", async () => {
  const names = new Map<string, string>();
  const html =
    "<svg><a id=a></a><foreignObject><title><b></title><div id=div></div></foreignObject><g id=g></g></svg>" +
    "<math><mi><i id=i></i></mi><mo id=mo></mo></math><svg><p id=p></p>";
  const element = (seen: Element) => {
    if (seen.hasAttribute("id")) names.set(seen.getAttribute("id")!, seen.namespaceURI.split("/").at(-1)!);
  };
  await rewrite(html, "*", { element });
  assert.deepEqual(Object.fromEntries(names), {
    a: "svg",
    div: "xhtml",
    g: "svg",
    i: "xhtml",
    mo: "MathML",
    p: "xhtml",
  });
});

test("a CDATA section is recognized in SVG, and is a comment in HTML", async () => {
  assert.equal(await found("<svg><![CDATA[ <b id=no> > ]]><g id=yes></svg>", "[id]"), "yes");
  assert.equal(await found("<![CDATA[ <b> <i id=yes>", "[id]"), "yes");
});

test("HTMLRewriter treats text that only resembles a tag as text", async () => {
  assert.equal(await textIn("<x>1 < 2 <3 <> <-</x>", "x"), "1 < 2 <3 <> <-");
  assert.equal(await found("<p>a <b id=b>c<1 id=no>", "[id]"), "b");
});

test("HTMLRewriter parses tags in every notation that the HTML standard allows", async () => {
  const html = `<x\n\tA\n=\r"1>2"\f/ b='<y>'c / =d="e" f==g/>`;
  let attributes: [string, string][] = [];
  await onElements(html, "x", (element) => {
    attributes = [...element.attributes];
  });
  assert.deepEqual(attributes, [
    ["a", "1>2"],
    ["b", "<y>"],
    ["c", ""],
    ["=d", "e"],
    ["f", "=g/"],
  ]);
});

test("HTMLRewriter passes a truncated document through to its last byte", async () => {
  for (const end of [
    "<",
    "<a",
    "<a b='",
    "</",
    "</a",
    "<!",
    "<!-",
    "<!--x-",
    "<!doc",
    "<script>x</scr",
    "<svg><![CDATA[x]]",
  ]) {
    const html = `<p>1${end}`;
    const seen = { element() {}, text() {}, comments() {} };
    const response = new script.HTMLRewriter().on("*", seen).onDocument({ ...seen, doctype() {} });
    assert.equal(await response.transform(new script.Response(html)).text(), html);
  }
});
