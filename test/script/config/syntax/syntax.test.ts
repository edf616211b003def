// Syntax errors in TOML, JSON and JSONC files are described at the position of their token.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readConfig } from "../../../../src/script/config/config.ts";
import { ConfigError } from "../../../../src/script/config/syntax/error.ts";
import { project, type Row, refusals } from "../../../support/projects.ts";

const toml: readonly Row[] = [
  {
    what: "a string without quotes",
    text: "name = photos\n",
    at: "1:8",
    says: ["photos is not a value", '"photos"'],
  },
  {
    what: "a missing value",
    text: "name =\n",
    at: "1:7",
    says: ["The value is missing.", 'Write: name = "…"'],
  },
  { what: "a missing value before a comment", text: "name = # x\n", at: "1:8", says: ["not a value"] },
  {
    what: "a string without quotes in a list",
    text: "routes = [a.b/*, c.d/*]\n",
    at: "1:11",
    says: ['quotes: "a.b/*"'],
  },
  {
    what: "a string without quotes in a table",
    text: "vars = { A = yes, B = 1 }\n",
    at: "1:14",
    says: ["yes is not a value."],
  },
  { what: "the value True", text: "[vars]\nA = True\n", at: "2:5", says: ["lowercase", "Write: A = true"] },
  { what: "the value null", text: "[vars]\nA = null\n", at: "2:5", says: ["TOML has no null"] },
  { what: "the unquoted word constructor", text: "name = constructor\n", at: "1:8", says: ['"constructor"'] },
  { what: "a string in typographic quotes", text: "name = “photos”\n", at: "1:8", says: ["straight"] },
  {
    what: "a string that is not closed on its line",
    text: '\nname = "photos\nmain = "x"\n',
    at: "2:8",
    says: ["closing quote is missing", 'Close it on the same line: "photos"'],
  },
  { what: "an unclosed string at the end", text: "name = 'photos", at: "1:8", says: ["'photos'"] },
  {
    what: "an unclosed string after a closed string",
    text: 'routes = ["a.b/*", "c.d/*]\n',
    at: "1:20",
    says: ["closing quote is missing"],
  },
  { what: "an unclosed long string", text: 'name = """\nphotos\n', at: "1:8", says: ['Close it with """'] },
  {
    what: "a control character in a string",
    text: 'name = "a\x01"\n',
    at: "1:10",
    says: ["control character in this text"],
  },
  { what: "a control character in a comment", text: "# \x01\n", at: "1:3", says: ["control character"] },
  {
    what: "a colon instead of an equals sign",
    text: 'name: "photos"\n',
    at: "1:5",
    says: ["= and not a colon", 'Write: name = "photos"'],
  },
  {
    what: "a missing equals sign",
    text: 'name "photos"\n',
    at: "1:6",
    says: ["no = after", 'Write: name = "photos"'],
  },
  { what: "a key without a value", text: "name\n", at: "1:5", says: ['no = after the key "name"'] },
  { what: "a missing key", text: '= "photos"\n', at: "1:1", says: ["The key is missing before the ="] },
  { what: "an unquoted key with a space", text: "[vars]\nmy var = 1\n", at: "2:4", says: ['"my key" = …'] },
  { what: "a key in triple quotes", text: '"""a""" = 1\n', at: "1:1", says: ["triple quotes"] },
  {
    what: "a JSON object",
    text: '{\n  "name": "photos"\n}\n',
    at: "1:1",
    says: ["looks like JSON", "store.json"],
  },
  {
    what: "a comment that begins with two slashes",
    text: "// photos\n",
    at: "1:1",
    says: ["A comment begins with #"],
  },
  {
    what: "an unclosed table header",
    text: "[vars\nA = 1\n",
    at: "1:6",
    says: ["not closed", "Write: [vars]"],
  },
  {
    what: "a half-closed array of tables",
    text: "[[store_buckets]\n",
    at: "1:17",
    says: ["[[store_buckets]]"],
  },
  {
    what: "a line with two entries",
    text: 'name = "a" main = "b"\n',
    at: "1:12",
    says: ["Begin a new line here."],
  },
  { what: "text after a value", text: 'name = "a" b\n', at: "1:12", says: ["Remove it"] },
  {
    what: "a duplicate key",
    text: 'name = "a"\nname = "b"\n',
    at: "2:1",
    says: ['The key "name" is written twice.', "Keep one"],
  },
  {
    what: "a duplicate table",
    text: "[vars]\nA = 1\n\n[vars]\nB = 1\n",
    at: "4:2",
    says: ['"vars" is already written', "under one [vars]"],
  },
  {
    what: "a second bucket table in single brackets",
    text: '[store_buckets]\nbinding = "A"\n[store_buckets]\n',
    at: "3:2",
    says: ["[[store_buckets]]"],
  },
  { what: "a missing comma", text: 'routes = ["a.b/*" "c.d/*"]\n', at: "1:19", says: ["comma missing"] },
  {
    what: "an unclosed list",
    text: 'routes = [\n  "a.b/*",\n\n',
    at: "2:10",
    says: ["Close it with ]"],
  },
  { what: "an unclosed inline table", text: "vars = { A = 1", at: "1:14", says: ["The file ends"] },
  {
    what: "an invalid escape",
    text: 'main = "src\\main.ts"\n',
    at: "1:12",
    says: ["\\m means nothing", "\\\\"],
  },
  { what: "an incomplete escape", text: 'name = "\\u12"\n', at: "1:9", says: ["\\u12 means nothing"] },
  {
    what: "a number with too many digits",
    text: "vars.A = 12345678901234567890\n",
    at: "1:10",
    says: ["more digits"],
  },
  { what: "a leading zero", text: "vars.A = 007\n", at: "1:10", says: ["does not begin with 0", "quotes"] },
  { what: "a number with letters", text: "vars.A = 5x\n", at: "1:11", says: ["is not a number", "quotes"] },
  {
    what: "a date with an invalid month",
    text: "compatibility_date = 2026-13-01\n",
    at: "1:22",
    says: ["does not exist"],
  },
  { what: "an error after CRLF", text: 'name = "a"\r\nmain = b\r\n', at: "2:8", says: ["b is not a value"] },
];

test("TOML syntax errors are described in plain words", async (t) => {
  await refusals(t, await project(t), "store.toml", toml);
});

const json: readonly Row[] = [
  { what: "an empty file", text: "\n", at: "1:1", says: ["The file is empty."] },
  {
    what: "an unclosed object",
    text: '{\n  "name": "a"\n\n',
    at: "2:13",
    says: ["ends before", "Close it with }"],
  },
  { what: "an unclosed list", text: '{ "routes": ["a.b/*"\n', at: "1:20", says: ["Close it with ]"] },
  { what: "a missing colon", text: '{ "name" "a" }', at: "1:10", says: ["colon missing"] },
  { what: "a missing value", text: '{ "name": }', at: "1:11", says: ["The value is missing."] },
  {
    what: "a missing comma between entries",
    text: '{\n  "name": "a"\n  "main": "b"\n}',
    at: "3:3",
    says: ["comma missing before this"],
  },
  {
    what: "a value in place of a key",
    text: '{ "name": "a", 5 }',
    at: "1:16",
    says: ["A key in double quotes"],
  },
  { what: "an object with only a comma", text: "{ , }", at: "1:3", says: ["comma too many"] },
  {
    what: "a key without quotes",
    text: "{ name: 1 }",
    at: "1:3",
    says: ["A key is written in double quotes", '"name"'],
  },
  {
    what: "a string in single quotes",
    text: "{ \"name\": 'a' }",
    at: "1:11",
    says: ["Text is written in double", 'Write: "a"'],
  },
  {
    what: "the value True",
    text: '{ "vars": { "A": True } }',
    at: "1:18",
    says: ["lowercase", "Write: true"],
  },
  {
    what: "a string over two lines",
    text: '{ "name": "a\n" }',
    at: "1:11",
    says: ["closing quote is missing"],
  },
  { what: "an invalid escape", text: '{ "main": "src\\main.ts" }', at: "1:11", says: ["backslash"] },
  { what: "an incomplete escape", text: '{ "main": "\\u12" }', at: "1:11", says: ["backslash"] },
  { what: "a tab in a string", text: '{ "main": "a\tb" }', at: "1:11", says: ["control character"] },
  {
    what: "a number that ends in a point",
    text: '{ "vars": { "A": 1. } }',
    at: "1:18",
    says: ["1. is not a number"],
  },
  { what: "a second top-level object", text: '{ "name": "a" }\n{}', at: "2:1", says: ["after the end"] },
  { what: "a TOML entry", text: 'name = "a"\n', at: "1:1", says: ["looks like TOML", "store.toml"] },
];

const onlyJson: readonly Row[] = [
  {
    what: "a comment",
    text: '{\n  // The name.\n  "name": "a"\n}',
    at: "2:3",
    says: ["no comments", "store.jsonc"],
  },
  {
    what: "a comma after the last entry",
    text: '{\n  "name": "a",\n}',
    at: "2:14",
    says: ["comma after the last entry", "or name the file store.jsonc"],
  },
  {
    what: "a comma after the last element",
    text: '{ "routes": ["a.b/*",] }',
    at: "1:21",
    says: ["comma after the last entry"],
  },
  {
    what: "a duplicate key",
    text: '{\n  "name": "a",\n  "name": "b"\n}',
    at: "3:3",
    says: ['The key "name" is written twice: it is already on line 2.'],
  },
];

const onlyJsonc: readonly Row[] = [
  {
    what: "an unclosed comment",
    text: '{ "name": "a" } /* the end',
    at: "1:17",
    says: ["comment", "Close it with */"],
  },
  { what: "a double comma", text: '{ "routes": ["a.b/*",,] }', at: "1:22", says: ["comma too many"] },
];

test("JSON syntax errors are described in plain words", async (t) => {
  await refusals(t, await project(t), "store.json", [...json, ...onlyJson]);
});

test("JSONC syntax errors are described in plain words", async (t) => {
  await refusals(t, await project(t), "store.jsonc", [...json, ...onlyJsonc]);
});

const sound = {
  "store.toml": `name = "photos" # the name
main = 'src/index.ts'
compatibility_date = 2026-11-01
routes = ["photos.example.com/*", "*.example.com/x/*"]
[triggers]
crons = ["*/5 * * * *"]
[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
[vars]
LONG = """a
b"""
DEEP = { on = true, list = ["a", 1.5] }
`,
  "store.jsonc": `{ // the name
  "name": "photos", "main": "src/index.ts", "compatibility_date": "2026-11-01",
  "store_buckets": [{ "binding": "PHOTOS", "bucket_name": "photos" }],
  "triggers": { "crons": ["*/5 * * * *"] },
  "vars": { "A": 1, "B": [null, { "c": "x" }] }
}
`,
};

test("a damaged configuration file is either accepted or refused with a position inside the file", async (t) => {
  const { write } = await project(t);
  const tokens = fc.constantFrom(
    ...['"', "'", "[", "]", "{", "}", "=", ",", ".", ":", "\\", "\n", "\r\n", "#", "//", "/*", '"""', "'''"],
    ...["\0", "\t", "😀", "0", "-", "true", "null", "inf", "__proto__", "constructor", "[vars]\n", ""],
  );
  const damage = fc.record({ at: fc.nat(400), cut: fc.nat(6), token: tokens });
  const file = fc.constantFrom(...(Object.keys(sound) as (keyof typeof sound)[]));
  await fc.assert(
    fc.asyncProperty(file, fc.array(damage, { minLength: 1, maxLength: 3 }), async (name, damages) => {
      let text: string = sound[name];
      for (const { at, cut, token } of damages) text = text.slice(0, at) + token + text.slice(at + cut);
      const path = await write(name, text);
      const lines = text.split("\n");
      try {
        readConfig(path);
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error));
        assert.ok(error.faults.length > 0);
        for (const { line, column } of error.faults) {
          assert.ok(column >= 1 && column <= (lines[line - 1]?.length ?? -1) + 1, error.message);
        }
      }
    }),
    { numRuns: 300 },
  );
});
