// The XML reader: accepted syntax, limits, and the CPU time to refuse the most expensive document.
import assert from "node:assert/strict";
import { test } from "node:test";
import { childText, findChildren, readXml, xmlLimits } from "../../../src/s3/body/xml-reader.ts";
import { directScene } from "../direct.ts";

const read = (text: string, root = "a") => readXml(Buffer.from(text), root);
const malformed = (text: string) =>
  assert.throws(() => read(text), { code: "MalformedXML" }, text.slice(0, 80));

test("the XML reader accepts text, entities, CDATA, comments, prefixes and attributes", () => {
  const node = read(`<?xml version="1.0"?>\n<!-- note -->
    <s3:a xmlns:s3='urn:x' b = "1">
      <k> &lt;&#65;&#x42;&amp;amp;&quot;&apos;&gt; </k><k><![CDATA[<&>]]></k><k/><k>\u{1f600}</k>
    </s3:a>\n`);
  assert.deepEqual(
    findChildren(node, "k").map(({ text }) => text),
    [" <AB&amp;\"'> ", "<&>", "", "\u{1f600}"],
  );
  assert.equal(childText(node, "missing"), undefined);
});

test("the XML reader refuses a document that is not well-formed", () => {
  for (const text of [
    "",
    "text",
    "<a>",
    "</a>",
    "<a></b>",
    "<a/><a/>",
    "<a/>text",
    "<b/>",
    "<a b></a>",
    "<a b=c/>",
    "<a b='<'/>",
    "< a/>",
    "<a><!-- </a>",
    "<a><![CDATA[</a>",
    "<!DOCTYPE a><a/>",
    "<a>&</a>",
    "<a>&amp</a>",
    "<a>&;</a>",
    "<a>&copy;</a>",
    "<a>&#;</a>",
    "<a>&#xd800;</a>",
    "<a>&#1114112;</a>",
    "<a>&#00000065;</a>",
    "<a>&a<b/>mp;</a>",
  ]) {
    malformed(text);
  }
  assert.throws(() => readXml(new Uint8Array([0x3c, 0x61, 0xff]), "a"), { code: "MalformedXML" });
});

test("the XML reader limits the depth, the amount of markup and the text of an element", () => {
  const nested = (depth: number) => "<a>".repeat(depth) + "</a>".repeat(depth);
  read(nested(xmlLimits.depth));
  malformed(nested(xmlLimits.depth + 1));
  read(`<a>${"<b/>".repeat(xmlLimits.markup - 1)}</a>`);
  malformed(`<a>${"<b/>".repeat(xmlLimits.markup)}</a>`);
  malformed(`<a>${"<!---->".repeat(xmlLimits.markup)}</a>`);
  malformed(`<a ${'b="" '.repeat(xmlLimits.markup)}/>`);
  assert.equal(read(`<a>${"x".repeat(xmlLimits.text)}</a>`).text.length, xmlLimits.text);
  malformed(`<a>${"x".repeat(xmlLimits.text + 1)}</a>`);
  malformed(`<a>${"&lt;".repeat(xmlLimits.text + 1)}</a>`);
  malformed(`<a><![CDATA[${"x".repeat(xmlLimits.text + 1)}]]></a>`);
});

test("indentation around many XML elements does not count as text", () => {
  const spaces = " ".repeat(100);
  const node = read(`<a>${`\n${spaces}<b>1</b>`.repeat(1000)}</a>`);
  assert.equal(node.children.length, 1000);
});

test("4 MiB of ampersands in DeleteObjects are refused with little CPU time", async (t) => {
  const { ask, engine } = await directScene(t);
  await engine.createBucket("photos");
  const start = "<Delete><Object><Key>";
  const body = Buffer.from(start + "&".repeat(4 * 1024 * 1024 - start.length));
  const before = process.cpuUsage();
  const answer = await ask({ method: "POST", path: "/photos", query: [["delete", ""]], body });
  const { user, system } = process.cpuUsage(before);
  assert.deepEqual([answer.status, answer.code], [400, "MalformedXML"]);
  // The request takes about 30 ms. A reader that collects every match would take seconds.
  assert.ok(user + system < 1_500_000, `${user + system} microseconds of CPU`);
});

test("CompleteMultipartUpload reads 10,000 parts with checksums", async (t) => {
  const { ask, engine } = await directScene(t);
  await engine.createBucket("photos");
  const { id } = await engine.createUpload("photos", "a");
  const parts = Array.from(
    { length: 10_000 },
    (_, i) =>
      `<Part><PartNumber>${i + 1}</PartNumber><ETag>&quot;x&quot;</ETag><ChecksumCRC32>AAAAAA==</ChecksumCRC32></Part>`,
  );
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`);
  const answer = await ask({ method: "POST", path: "/photos/a", query: [["uploadId", id]], body });
  assert.equal(answer.code, "InvalidPart");
});
