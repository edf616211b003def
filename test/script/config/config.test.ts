// Parsing of a script's configuration: accepted forms, lookup of the file, and complete messages.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { configErrorFor, readConfig } from "../../../src/script/config/config.ts";
import { findConfig } from "../../../src/script/config/find-config.ts";
import { ConfigError } from "../../../src/script/config/syntax/error.ts";
import { now, project } from "../../support/projects.ts";

const whole = `
name = "photos"                       # the script's name
main = "src/index.ts"
compatibility_date = "2026-11-01"
compatibility_flags = ["store_list_honor_include"]
routes = ["photos.example.com/*", "*.example.com/photos/*"]

[triggers]
crons = ["*/5 * * * *", "0 9 * * MON-FRI"]

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"

[[store_buckets]]
binding = "$cache_2"
bucket_name = "cache.example"

[vars]
GREETING = "hello"
LIMIT = 10
RATIO = 0.5
DEBUG = false
"my-var" = "x"
SIZES = [1, 2, 3]

[vars.NESTED]
deep = { on = true, list = ["a", 1] }
`;

const json = {
  name: "photos",
  main: "src/index.ts",
  compatibility_date: "2026-11-01",
  compatibility_flags: ["store_list_honor_include"],
  routes: ["photos.example.com/*", "*.example.com/photos/*"],
  triggers: { crons: ["*/5 * * * *", "0 9 * * MON-FRI"] },
  store_buckets: [
    { binding: "PHOTOS", bucket_name: "photos" },
    { binding: "$cache_2", bucket_name: "cache.example" },
  ],
  vars: {
    GREETING: "hello",
    LIMIT: 10,
    RATIO: 0.5,
    DEBUG: false,
    "my-var": "x",
    SIZES: [1, 2, 3],
    NESTED: { deep: { on: true, list: ["a", 1] } },
  },
};

function expected(directory: string, file: string) {
  return {
    file: join(directory, file),
    kind: "store",
    directory,
    environment: undefined,
    name: "photos",
    main: join(directory, "src/index.ts"),
    compatibilityDate: "2026-11-01",
    compatibilityFlags: json.compatibility_flags,
    isolation: "process",
    outbound: "none",
    routes: json.routes,
    crons: json.triggers.crons,
    sunday: 0,
    bundling: {},
    buckets: [
      { binding: "PHOTOS", bucketName: "photos" },
      { binding: "$cache_2", bucketName: "cache.example" },
    ],
    kvNamespaces: [],
    services: [],
    assets: undefined,
    emulated: [],
    unsupported: [],
    vars: json.vars,
    devVars: {},
    watched: [],
    devPort: undefined,
    notes: [],
  };
}

test("TOML, JSON and JSONC give the same configuration, and variables keep their types", async (t) => {
  const { read, directory } = await project(t);
  assert.deepEqual(await read("store.toml", whole), expected(directory, "store.toml"));
  assert.deepEqual(await read("store.json", JSON.stringify(json)), expected(directory, "store.json"));
  const commented = `// The photos.\n${JSON.stringify(json, null, 2).replace(/\n}$/, ", /* the end */\n}")}`;
  assert.deepEqual(await read("store.jsonc", commented), expected(directory, "store.jsonc"));
});

const least = 'name = "a"\nmain = "src/index.ts"\ncompatibility_date = "2022-08-03"\n';

test("lists and tables that a configuration omits are empty", async (t) => {
  const { read } = await project(t);
  const { compatibilityFlags, routes, crons, buckets, vars } = await read("store.toml", least);
  assert.deepEqual([compatibilityFlags, routes, crons, buckets, vars], [[], [], [], [], {}]);
});

test("a configuration file may have a byte order mark, CRLF line ends and a date without quotes", async (t) => {
  const { read } = await project(t);
  const windows = `\ufeff${least.replace('"2022-08-03"', "2026-11-01").replaceAll("\n", "\r\n")}`;
  assert.equal((await read("store.toml", windows)).compatibilityDate, "2026-11-01");
  const marked = `\ufeff${JSON.stringify({ $schema: "./schema.json", ...json }, null, 2)}`;
  assert.equal((await read("store.json", marked)).name, "photos");
});

test("in a JSON configuration, variables may be null, and dates in quotes stay strings", async (t) => {
  const { read } = await project(t);
  const vars = { NOTHING: null, SINCE: "2026-11-01", constructor: "mine", E: 1e21 };
  assert.deepEqual((await read("store.json", JSON.stringify({ ...json, vars }))).vars, vars);
});

test("TOML inline tables and dotted keys are equivalent to table headers", async (t) => {
  const { read } = await project(t);
  const inline = `${least}
    store_buckets = [{ binding = "A", bucket_name = "aaa" }, { binding = "B", bucket_name = "bbb" }]
    triggers.crons = ["0 0 1 * *"]
    vars.X.y = 1
    vars.Z = true`;
  const { buckets, crons, vars } = await read("store.toml", inline);
  assert.deepEqual(
    buckets.map(({ binding, bucketName }) => `${binding}=${bucketName}`),
    ["A=aaa", "B=bbb"],
  );
  assert.deepEqual([crons, vars], [["0 0 1 * *"], { X: { y: 1 }, Z: true }]);
});

test("the configuration file of a folder is found if the folder contains exactly one", async (t) => {
  const { directory, write } = await project(t);
  assert.throws(() => findConfig(directory), { name: "ConfigError", message: /store init/ });
  for (const name of ["store.json", "store.toml", "store.jsonc"]) {
    const file = await write(`${name}.d/${name}`, "");
    assert.equal(findConfig(join(directory, `${name}.d`)), file);
  }
  await write("store.jsonc", "");
  await write("store.toml", "");
  assert.throws(() => findConfig(directory), {
    name: "ConfigError",
    message: /store\.toml and store\.jsonc[\s\S]*--config/,
  });
});

test("a configuration file that cannot be read is reported by name", async (t) => {
  const { directory, write } = await project(t);
  assert.throws(() => readConfig(join(directory, "store.toml")), {
    name: "ConfigError",
    message: /^Cannot read .*store\.toml: there is no such file\.\n {2}.*store init/,
  });
  assert.throws(() => readConfig(join(directory)), /must end in \.toml, \.json or \.jsonc/);
  await write("folder.toml/x", "");
  assert.throws(() => readConfig(join(directory, "folder.toml")), /it is a directory/);
  await write("store.yaml", "");
  assert.throws(() => readConfig(join(directory, "store.yaml")), ConfigError);
});

test("a configuration file that is not UTF-8 is reported at its first invalid byte", async (t) => {
  const { refused } = await project(t);
  const { message } = await refused("store.toml", Buffer.concat([Buffer.from('name = "a'), Buffer.of(0xe9)]));
  assert.match(message, /store\.toml:1:10: The file is not UTF-8/);
});

test("the message of a configuration error shows the position, the line and a mark under the token", async (t) => {
  const { refused, directory } = await project(t);
  const { message } = await refused("store.toml", `${least}\n[[store_bukets]]\nbinding = "PHOTOS"\n`);
  assert.equal(
    message,
    [
      `${directory}/store.toml:5:3: "store_bukets" is not a key of the configuration: did you mean store_buckets?`,
      "  5 | [[store_bukets]]",
      "    |   ^^^^^^^^^^^^",
    ].join("\n"),
  );
});

test("all errors of a configuration are reported together, in file order", async (t) => {
  const { refused, directory } = await project(t);
  const text = [
    'name = "My Photos"',
    'main = "src/index.js"',
    "[[store_buckets]]",
    'binding = "my-photos"',
    'bucket_name = "photos"',
    "",
  ].join("\n");
  const { message, faults } = await refused("store.toml", text);
  const file = `${directory}/store.toml`;
  const rules = {
    name: "lowercase letters, digits and dashes, at most 63 of them, a letter or digit at both ends",
    binding: "letters, digits, _ and $, not beginning with a digit, and no reserved word such as class",
  };
  assert.equal(
    message,
    `${file}:1:1: "compatibility_date" is missing.
  1 | name = "My Photos"
    | ^
  Add this line at the top of the file:
      compatibility_date = "2026-11-15"

${file}:1:8: "My Photos" cannot be a script's name: it is ${rules.name}.
  1 | name = "My Photos"
    |        ^^^^^^^^^^^
  Write: name = "my-photos"

${file}:2:8: There is no file "src/index.js": did you mean "src/index.ts"?
  2 | main = "src/index.js"
    |        ^^^^^^^^^^^^^^
  The path begins at the folder of store.toml; looked for ${directory}/src/index.js

${file}:4:11: The binding "my-photos" is not a JavaScript identifier: a binding is ${rules.binding}.
  4 | binding = "my-photos"
    |           ^^^^^^^^^^^
  Write: binding = "my_photos"`,
  );
  assert.deepEqual(
    faults.map(({ line, column }) => [line, column]),
    [
      [1, 1],
      [1, 8],
      [2, 8],
      [4, 11],
    ],
  );
});

test("the mark under a wrong token is aligned after tabs and wide letters, and in truncated lines", async (t) => {
  const { refused } = await project(t);
  const tabs = await refused("store.toml", `${least}[vars]\n\t"日本" = 2026-11-01\n`);
  assert.deepEqual(tabs.message.split("\n").slice(1, 3), [
    '  5 | \t"日本" = 2026-11-01',
    "    | \t         ^^^^^^^^^^",
  ]);
  const long = JSON.stringify({ ...json, vars: { a: "x".repeat(300) }, main: 7 });
  const [head, shown, marks] = (await refused("store.json", long)).message.split("\n");
  assert.match(head!, new RegExp(`:1:${long.indexOf("7") + 1}: "main" must be a string`));
  assert.match(shown!, /^ {2}1 \| \{.*"main":7.*…$/);
  assert.equal(shown!.indexOf("7"), marks!.indexOf("^"));
  const behind = `{"vars": {"a": "${"x".repeat(300)}"}, "name": false, ${JSON.stringify({ main: json.main, compatibility_date: "2026-11-01" }).slice(1)}`;
  const [, part, under] = (await refused("store.json", behind)).message.split("\n");
  assert.match(part!, /^ {2}1 \| ….*"name": false/);
  assert.equal(part!.indexOf("false"), under!.indexOf("^"));
});

test("an error found after parsing is reported at its position in the configuration file", async (t) => {
  const { read, directory } = await project(t);
  const config = await read("store.toml", whole);
  const bucket = configErrorFor(
    config,
    ["store_buckets", 1, "bucket_name"],
    'The bucket "cache.example" does not exist.',
    "Create it with: store bucket create cache.example",
  );
  assert.ok(bucket instanceof ConfigError);
  assert.equal(
    bucket.message,
    `${directory}/store.toml:17:15: The bucket "cache.example" does not exist.
  17 | bucket_name = "cache.example"
     |               ^^^^^^^^^^^^^^^
  Create it with: store bucket create cache.example`,
  );
  const variable = configErrorFor(config, ["vars", "LIMIT"], 'There is a secret "LIMIT" too.');
  assert.match(
    variable.message,
    /:21:1: There is a secret "LIMIT" too\.\n {2}21 \| LIMIT = 10\n {5}\| \^{5}$/,
  );
});

test("a cloned configuration keeps its source positions, and a missing key has the position of its table", async (t) => {
  const { read } = await project(t);
  const copy = structuredClone(await read("store.json", JSON.stringify(json, null, 2)));
  const at = (...path: (string | number)[]) => {
    const { line, column } = configErrorFor(copy, path, "x").faults[0]!;
    return `${line}:${column}`;
  };
  assert.equal(at("store_buckets", 0, "binding"), "20:18");
  assert.equal(at("store_buckets", 0, "nothing"), "19:5");
  assert.equal(at("vars", "SIZES"), "34:5");
  assert.equal(at("vars", "SIZES", 1), "36:7");
  assert.equal(at("nothing", 4), "1:1");
});

test("the error for a missing compatibility date suggests the current date", async (t) => {
  const { write, directory } = await project(t);
  const file = await write("store.toml", 'name = "a"\nmain = "src/index.ts"\n');
  const before = new Date().toISOString().slice(0, 10);
  assert.throws(
    () => readConfig(file),
    ({ message }: Error) => {
      const after = new Date().toISOString().slice(0, 10);
      return [before, after].some((day) => message.includes(`    compatibility_date = "${day}"`));
    },
  );
  assert.throws(() => readConfig(join(directory, "store.toml"), { now }), /"2026-11-15"/);
});
