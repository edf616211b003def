import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asciiJson,
  embed,
  formatText,
  formatValue,
} from "../../../../src/script/sandbox/runtime/config-text.ts";

test("text with quotes, backslashes, line breaks, NUL and other characters is escaped", () => {
  assert.equal(formatText("plain"), '"plain"');
  assert.equal(formatText('a"b\\c'), '"a\\x22b\\x5cc"');
  assert.equal(formatText("a\nb\0c\x7f"), '"a\\x0ab\\x00c\\x7f"');
  assert.equal(formatText("é😀"), '"\\xc3\\xa9\\xf0\\x9f\\x98\\x80"');
});

test("a hostile text cannot end its literal", () => {
  const hostile = '"), (name = "x", text = "';
  assert.equal(formatText(hostile).slice(1, -1).includes('"'), false);
});

test("JSON is written in ASCII and keeps NUL and single surrogates", () => {
  for (const value of ["\0", "\ud800", "😀\n", { ключ: ["é"] }, null, 1.5, true]) {
    const text = asciiJson(value);
    assert.match(text, /^[\x20-\x7e]*$/);
    assert.deepEqual(JSON.parse(text), value);
  }
});

test("structures leave out members without a value, and embed files by name", () => {
  assert.equal(
    formatValue({ name: "a", list: [1, true], absent: undefined, inner: { file: embed('x".js') } }),
    '(name = "a", list = [1, true], inner = (file = embed "x\\x22.js"))',
  );
});
