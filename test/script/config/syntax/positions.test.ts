// Positions of keys and values in TOML, in every notation and in random documents. The text at each
// position must parse as the value at that path.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { type Span, toLineColumn } from "../../../../src/script/config/syntax/error.ts";
import type { ConfigPath, SourcePositions } from "../../../../src/script/config/syntax/positions.ts";
import { scanTomlPositions } from "../../../../src/script/config/syntax/toml-positions.ts";

interface Row {
  readonly path: ConfigPath;
  /** Position and text of the key and of the value, as `line:column text`. */
  readonly key?: string;
  readonly value: string;
}

function shown(text: string, span: Span): string {
  const { line, column } = toLineColumn(text, span.start);
  return `${line}:${column} ${text.slice(span.start, span.end)}`;
}

function check(text: string, rows: readonly Row[]): void {
  parse(text);
  const places = scanTomlPositions(text);
  for (const { path, key, value } of rows) {
    assert.ok(places.has(path), JSON.stringify(path));
    const place = places.find(path);
    assert.equal(shown(text, place.value), value, JSON.stringify(path));
    assert.equal(place.key && shown(text, place.key), key, JSON.stringify(path));
  }
}

test("the position of each TOML key and value is found in every notation", () => {
  const text = `# a comment = 1
name = "photos"   # behind "it"
  indented=true
"quoted key" = 'lit # eral'
'single' = 1_000
"esc\\u0061ped" = -0.5e3
dotted . "in quotes" .deep = 0xff
date = 2026-11-01
moment = 2026-11-01 10:00:00.5+02:00
time = 07:32:00
long = """one
two "" three \\""" four"""
literal = '''
it's''''
end = nan`;
  check(text, [
    { path: ["name"], key: "2:1 name", value: '2:8 "photos"' },
    { path: ["indented"], key: "3:3 indented", value: "3:12 true" },
    { path: ["quoted key"], key: '4:1 "quoted key"', value: "4:16 'lit # eral'" },
    { path: ["single"], key: "5:1 'single'", value: "5:12 1_000" },
    { path: ["escaped"], key: '6:1 "esc\\u0061ped"', value: "6:18 -0.5e3" },
    { path: ["dotted"], key: "7:1 dotted", value: "7:1 dotted" },
    { path: ["dotted", "in quotes"], key: '7:10 "in quotes"', value: '7:10 "in quotes"' },
    { path: ["dotted", "in quotes", "deep"], key: "7:23 deep", value: "7:30 0xff" },
    { path: ["date"], key: "8:1 date", value: "8:8 2026-11-01" },
    { path: ["moment"], key: "9:1 moment", value: "9:10 2026-11-01 10:00:00.5+02:00" },
    { path: ["time"], key: "10:1 time", value: "10:8 07:32:00" },
    { path: ["long"], key: "11:1 long", value: '11:8 """one\ntwo "" three \\""" four"""' },
    { path: ["literal"], key: "13:1 literal", value: "13:11 '''\nit's''''" },
    { path: ["end"], key: "15:1 end", value: "15:7 nan" },
  ]);
});

test("the position of each TOML table, array of tables and nested table is found", () => {
  const text = `[vars]
A = 1
[ vars . "deep er" ]
B = 2
[[store_buckets]]
binding = "A"
[store_buckets.limits]
most = 5
[[store_buckets]]   # the second
binding = "B"
[[store_buckets.parts]]
n = 1
[[store_buckets.parts]]
n = 2
[a.b.c]
x = 1
[a]
y = 2`;
  check(text, [
    { path: ["vars"], key: "1:2 vars", value: "1:1 [vars]" },
    { path: ["vars", "A"], key: "2:1 A", value: "2:5 1" },
    { path: ["vars", "deep er"], key: '3:10 "deep er"', value: '3:1 [ vars . "deep er" ]' },
    { path: ["vars", "deep er", "B"], key: "4:1 B", value: "4:5 2" },
    { path: ["store_buckets"], key: "5:3 store_buckets", value: "5:1 [[store_buckets]]" },
    { path: ["store_buckets", 0], value: "5:1 [[store_buckets]]" },
    { path: ["store_buckets", 0, "binding"], key: "6:1 binding", value: '6:11 "A"' },
    { path: ["store_buckets", 0, "limits"], key: "7:16 limits", value: "7:1 [store_buckets.limits]" },
    { path: ["store_buckets", 0, "limits", "most"], key: "8:1 most", value: "8:8 5" },
    { path: ["store_buckets", 1], value: "9:1 [[store_buckets]]" },
    { path: ["store_buckets", 1, "binding"], key: "10:1 binding", value: '10:11 "B"' },
    { path: ["store_buckets", 1, "parts", 0, "n"], key: "12:1 n", value: "12:5 1" },
    { path: ["store_buckets", 1, "parts", 1], value: "13:1 [[store_buckets.parts]]" },
    { path: ["store_buckets", 1, "parts", 1, "n"], key: "14:1 n", value: "14:5 2" },
    { path: ["a", "b", "c", "x"], key: "16:1 x", value: "16:5 1" },
    { path: ["a"], key: "17:2 a", value: "17:1 [a]" },
    { path: ["a", "y"], key: "18:1 y", value: "18:5 2" },
  ]);
});

test("positions in TOML inline tables and arrays are found, also over several lines and with comments", () => {
  const text = `routes = [ # all of them
  "a,b]", 'c',  # with , and ]
  [1,2], { x = { y.z = "}" }, w = [ ] },
]
empty = {}
last = { a = 1, b = 2 }`;
  check(text, [
    { path: ["routes", 0], value: '2:3 "a,b]"' },
    { path: ["routes", 1], value: "2:11 'c'" },
    { path: ["routes", 2], value: "3:3 [1,2]" },
    { path: ["routes", 2, 1], value: "3:6 2" },
    { path: ["routes", 3], value: '3:10 { x = { y.z = "}" }, w = [ ] }' },
    { path: ["routes", 3, "x", "y", "z"], key: "3:20 z", value: '3:24 "}"' },
    { path: ["routes", 3, "w"], key: "3:31 w", value: "3:35 [ ]" },
    { path: ["empty"], key: "5:1 empty", value: "5:9 {}" },
    { path: ["last", "b"], key: "6:17 b", value: "6:21 2" },
  ]);
});

test("a key that is missing in TOML has the position of its table", () => {
  const text = 'a = 1\n[[b]]\nc = "x"\n';
  const places = scanTomlPositions(text);
  assert.equal(shown(text, places.find(["b", 0, "none"]).value), "2:1 [[b]]");
  assert.deepEqual(places.find(["none", 3]), { key: undefined, value: { start: 0, end: 0 } });
  assert.deepEqual(scanTomlPositions("").find(["a"]).value, { start: 0, end: 0 });
});

test("the position scanner does not hang on text that is not TOML", () => {
  for (const text of ["[", "[[", "= 1", "a = [", "a = {", '"', "]", "a = [1 2", "\0", "a.b.", "[[a]", "{}"]) {
    scanTomlPositions(text);
  }
});

const scalar = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom("", '"', "'", "\\", "# no", "]", "}", '"""', "\n", "a\tb"),
  fc.integer(),
  fc.boolean(),
  fc.double({ noNaN: true }),
);
const key = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("a", "b-c", "1", "", "__proto__"),
);
const { document } = fc.letrec((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("node"), { maxLength: 3 }),
    fc.array(tie("document"), { maxLength: 3 }),
    tie("document"),
  ),
  document: fc.dictionary(key, tie("node"), { maxKeys: 4 }),
}));

test("in random TOML documents, the text at each position parses as the value at that path", () => {
  fc.assert(
    fc.property(document, (drawn) => {
      const text = stringify(drawn as Record<string, unknown>);
      holds(text, scanTomlPositions(text), parse(text), []);
    }),
    { numRuns: 300 },
  );
});

function holds(text: string, places: SourcePositions, value: unknown, path: ConfigPath): void {
  const where = `${JSON.stringify(path)} in:\n${text}`;
  assert.ok(places.has(path), where);
  const place = places.find(path);
  if (place.key !== undefined) {
    const [name] = Object.keys(parse(`${text.slice(place.key.start, place.key.end)} = 1`));
    assert.equal(name, path.at(-1), where);
  }
  if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      holds(text, places, member, [...path, Array.isArray(value) ? Number(name) : name]);
    }
    return;
  }
  const written = text.slice(place.value.start, place.value.end);
  assert.deepEqual(parse(`value = ${written}`).value, value, where);
}
