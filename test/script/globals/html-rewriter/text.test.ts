// HTMLRewriter: text, comments, the doctype and the end of the document.
import assert from "node:assert/strict";
import { test } from "node:test";
import { script, streamOf } from "../installed.ts";
import { type Comment, onDocument, rewrite, type Text } from "./rewriting.ts";

const pieces = () => {
  const seen: string[] = [];
  return { seen, text: (text: Text) => seen.push(text.lastInTextNode ? `${text.text}|` : text.text) };
};

test("HTMLRewriter ends each text node with an empty chunk that has lastInTextNode set", async () => {
  const { seen, text } = pieces();
  const html = "a<x>b &amp; c<b>d</b></x>e";
  assert.equal(await rewrite(html, "x", { text }), html);
  assert.deepEqual(seen, ["b &amp; c", "|", "d", "|"]);
});

test("text handlers never receive a chunk that ends within a UTF-8 character", async () => {
  const { seen, text } = pieces();
  const bytes = Buffer.from("<x>aé🎉b</x>");
  const parts = [...bytes].map((byte) => Buffer.from([byte]));
  const response = new script.HTMLRewriter()
    .on("x", { text })
    .transform(new script.Response(streamOf(...parts)));
  assert.equal(await response.text(), bytes.toString());
  assert.deepEqual(seen, ["a", "é", "🎉", "b", "|"]);
});

test("HTMLRewriter leaves bytes that are not valid UTF-8 unchanged", async () => {
  const { seen, text } = pieces();
  const bytes = Buffer.from([0x61, 0xff, 0xc3, 0x3c, 0x62, 0x3e, 0xe2, 0x82]);
  const response = new script.HTMLRewriter().onDocument({ text }).transform(new script.Response(bytes));
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
  assert.deepEqual(seen, ["a\ufffd", "\ufffd", "|", "\ufffd", "|"]);
});

test("HTMLRewriter handlers can replace, remove and extend text chunks", async () => {
  const change = (handler: (text: Text) => unknown) =>
    rewrite("<x>abc</x>", "x", { text: (text: Text) => (text.lastInTextNode ? undefined : handler(text)) });
  assert.equal(await change((text) => text.replace("<n>")), "<x>&lt;n&gt;</x>");
  assert.equal(await change((text) => text.replace("<n>", { html: true })), "<x><n></x>");
  assert.equal(await change((text) => text.remove()), "<x></x>");
  const around = await change((text) => text.before("1").before("2").after("4").after("3"));
  assert.equal(around, "<x>12abc34</x>");
  await change((text) => {
    assert.equal(text.removed, false);
    assert.equal(text.remove().removed, true);
  });
});

test("a text handler can collect the chunks of a text node and write the result at its end", async () => {
  let gathered = "";
  const response = new script.HTMLRewriter()
    .on("title", {
      text(text: Text) {
        gathered += text.text;
        if (text.lastInTextNode) text.replace(gathered.toUpperCase());
        else text.remove();
      },
    })
    .transform(new script.Response(streamOf("<title>he", "llo w", "orld</title>")));
  assert.equal(await response.text(), "<title>HELLO WORLD</title>");
});

test("HTMLRewriter calls text handlers of elements before those of the document, each once per chunk", async () => {
  const order: string[] = [];
  await new script.HTMLRewriter()
    .onDocument({ text: () => order.push("document") })
    .on("b", { text: () => order.push("b") })
    .on("x", { text: () => order.push("x") })
    .transform(new script.Response("<x><x><b>t"))
    .text();
  assert.deepEqual(order.slice(0, 3), ["b", "x", "document"]);
  assert.equal(order.length, 6);
});

test("comment handlers can read and change comments", async () => {
  const change = (html: string, handler: (comment: Comment) => unknown) =>
    rewrite(html, "x", { comments: handler });
  const seen: string[] = [];
  const html = "<!--no--><x><!-- yes --><!----><!--é--><?php a ?><!a></ b></x>";
  assert.equal(await change(html, (comment) => seen.push(comment.text)), html);
  assert.deepEqual(seen, [" yes ", "", "é", "?php a ?", "a", " b"]);
  const set = await change("<x><!--a--></x>", (comment) => {
    comment.text = "ü";
    assert.equal(comment.text, "ü");
    comment.before("1").after("<2>", { html: true });
  });
  assert.equal(set, "<x>1<!--ü--><2></x>");
  assert.equal(await change("<x><!--a--></x>", (comment) => comment.remove()), "<x></x>");
  assert.equal(await change("<x><!--a--></x>", (comment) => comment.replace("<")), "<x>&lt;</x>");
  await change("<x><!--a--></x>", (comment) => {
    assert.throws(() => {
      comment.text = "a-->b";
    }, TypeError);
  });
});

test("HTMLRewriter ends comments where the HTML standard ends them", async () => {
  const seen: string[] = [];
  const html = "<!--><!---><!-- a --!><!-- -- b -- > --><!--<!-- c --><!--d-- -->";
  assert.equal(await onDocument(html, { comments: (comment) => seen.push(comment.text) }), html);
  assert.deepEqual(seen, ["", "", " a ", " -- b -- > ", "<!-- c ", "d-- "]);
});

test("the doctype handler of HTMLRewriter receives name, public id and system id", async () => {
  const read = async (html: string) => {
    const seen: (string | null)[] = [];
    const doctype = ({ name, publicId, systemId }: { [field: string]: string | null }) =>
      seen.push(name!, publicId!, systemId!);
    assert.equal(await onDocument(html, { doctype: doctype as never }), html);
    return seen;
  };
  assert.deepEqual(await read("<!DOCTYPE html>x"), ["html", null, null]);
  const id = "-//W3C//DTD HTML 4.01//EN";
  const dtd = "http://www.w3.org/TR/html4/strict.dtd";
  assert.deepEqual(await read(`<!doctype HTML PUBLIC "${id}" '${dtd}'>`), ["html", id, dtd]);
  assert.deepEqual(await read(`<!doctype html SYSTEM "about:legacy-compat">`), [
    "html",
    null,
    "about:legacy-compat",
  ]);
  assert.deepEqual(await read("<!doctype>"), [null, null, null]);
});

test("HTMLRewriter can append content at the end of the document", async () => {
  const html = await onDocument("<p>a", {
    end: (end) => end.append("<1>").append("<2>", { html: true }),
  });
  assert.equal(html, "<p>a&lt;1&gt;<2>");
  assert.equal(await onDocument("", { end: (end) => end.append("x") }), "x");
});
