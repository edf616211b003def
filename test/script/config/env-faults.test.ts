// Errors in buckets, variables, routes and triggers of a configuration, in TOML and JSON.
import { test } from "node:test";
import { project, type Row, refusals } from "../../support/projects.ts";

const least = 'name = "photos"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n';
const bucket = (binding: string, bucketName: string) =>
  `${least}[[store_buckets]]\nbinding = ${binding}\nbucket_name = ${bucketName}\n`;

const rows: readonly Row[] = [
  {
    what: "a bucket table in single brackets",
    text: `${least}[store_buckets]\nbinding = "A"\n`,
    at: "4:1",
    says: ['"store_buckets" must be a list, not a table.', "    [[store_buckets]]\n"],
  },
  {
    what: "a list of bucket names instead of tables",
    text: `${least}store_buckets = ["a"]\n`,
    at: "4:18",
    says: ['"store_buckets[0]" must be a table, not a string.'],
  },
  {
    what: "a bucket without a binding",
    text: `${least}[[store_buckets]]\nbucket_name = "aaa"\n`,
    at: "4:1",
    says: ['"binding" is missing in store_buckets.', 'binding = "PHOTOS"'],
  },
  {
    what: "a bucket without a bucket_name",
    text: `${least}store_buckets = [{ binding = "A" }]\n`,
    at: "4:18",
    says: ['"bucket_name" is missing in store_buckets.', "existing bucket"],
  },
  { what: "a binding that is a number", text: bucket("1", '"aaa"'), at: "5:11", says: ["must be a string"] },
  {
    what: "a binding with a dash",
    text: bucket('"my-photos"', '"aaa"'),
    at: "5:11",
    says: ["is not a JavaScript identifier", 'Write: binding = "my_photos"'],
  },
  {
    what: "a binding that begins with a digit",
    text: bucket('"1st"', '"aaa"'),
    at: "5:11",
    says: ['binding = "_1st"'],
  },
  {
    what: "a binding that is a reserved word",
    text: bucket('"class"', '"aaa"'),
    at: "5:11",
    says: ['"class" is a reserved word of JavaScript', 'binding = "_class"'],
  },
  {
    what: "a binding that is a reserved word only in modules",
    text: bucket('"await"', '"aaa"'),
    at: "5:11",
    says: ["is a reserved word"],
  },
  {
    what: "a binding named __proto__",
    text: bucket('"__proto__"', '"aaa"'),
    at: "5:11",
    says: ["a meaning of its own", 'binding = "_proto__"'],
  },
  {
    what: "an empty binding",
    text: bucket('""', '"aaa"'),
    at: "5:11",
    says: ["is empty", 'binding = "BUCKET"'],
  },
  {
    what: "a bucket_name with capital letters",
    text: bucket('"A"', '"My_Photos"'),
    at: "6:15",
    says: ["cannot be a bucket's name: it is 3 to 63 lowercase letters", 'bucket_name = "my-photos"'],
  },
  { what: "a bucket_name of two letters", text: bucket('"A"', '"ab"'), at: "6:15", says: ["3 to 63"] },
  { what: "a bucket_name with two dots", text: bucket('"A"', '"a..b"'), at: "6:15", says: ["no two dots"] },
  {
    what: "an IP address as bucket_name",
    text: bucket('"A"', '"10.0.0.1"'),
    at: "6:15",
    says: ["no IP address"],
  },
  {
    what: "a binding that is used twice",
    text: `${bucket('"A"', '"aaa"')}[[store_buckets]]\nbinding = "A"\nbucket_name = "bbb"\n`,
    at: "8:11",
    says: ['"A" is already the name of a bucket binding, on line 5.'],
  },
  {
    what: "a variable with the name of a binding",
    text: `${bucket('"A"', '"aaa"')}[vars]\nA = 1\n`,
    at: "8:1",
    says: ['"A" is already the name of a bucket binding, on line 5.'],
  },
  {
    what: "a binding with the name of a variable",
    text: `${least}vars.A = 1\n[[store_buckets]]\nbinding = "A"\nbucket_name = "aaa"\n`,
    at: "6:11",
    says: ['"A" is already the name of a variable, on line 4.'],
  },
  {
    what: "a string instead of the vars table",
    text: `${least}vars = "x"\n`,
    at: "4:8",
    says: ['"vars" must be a table, not a string.', "    [vars]\n"],
  },
  {
    what: "a variable with a date as value",
    text: `${least}[vars]\nSINCE = 2026-11-01\n`,
    at: "5:9",
    says: ["A date has no type of its own in env.", 'Write it in quotes: "2026-11-01"'],
  },
  {
    what: "a variable with a nested date and time",
    text: `${least}[vars]\nDEEP = [1, { at = 2026-11-01 10:00:00Z }]\n`,
    at: "5:19",
    says: ['"2026-11-01 10:00:00Z"'],
  },
  { what: "a variable with value nan", text: `${least}vars.X = nan\n`, at: "4:10", says: ["nan is not"] },
  { what: "a variable with value -inf", text: `${least}vars.X = -inf\n`, at: "4:10", says: ["-inf is not"] },
  {
    what: "a variable named __proto__",
    text: `${least}[vars]\n"__proto__" = { a = 1 }\n`,
    at: "5:1",
    says: ['A variable cannot be called "__proto__".'],
  },
  {
    what: "a route that is a table",
    text: `${least}routes = [{ a = 1 }]\n`,
    at: "4:11",
    says: ["not a table"],
  },
  {
    what: "a route with a scheme",
    text: `${least}routes = [\n  "a.example/*",\n  "https://b.example/*",\n]\n`,
    at: "6:3",
    says: ["A route has no scheme: write b.example/*"],
  },
  {
    what: "a list instead of the triggers table",
    text: `${least}triggers = []\n`,
    at: "4:12",
    says: ["not a list", "[triggers]"],
  },
  {
    what: "a cron expression that is not in a list",
    text: `${least}triggers.crons = "0 0 * * *"\n`,
    at: "4:18",
    says: ['Write: crons = ["0 0 * * *"]'],
  },
  {
    what: "a cron expression with four fields",
    text: `${least}[triggers]\ncrons = ["* * * * *", "*/5 * * *"]\n`,
    at: "5:23",
    says: ["has 4 fields, and a cron expression has five", 'every five minutes: "*/5 * * * *"'],
  },
];

test("each error in buckets, variables, routes and triggers is reported with position, reason and fix", async (t) => {
  await refusals(t, await project(t), "store.toml", rows);
});

const object = (entries: string) =>
  `{\n  "name": "photos",\n  "main": "src/index.ts",\n  "compatibility_date": "2026-11-01"${entries}\n}\n`;

const jsonRows: readonly Row[] = [
  {
    what: "a mistyped top-level key",
    text: object(',\n  "store_bukets": []'),
    at: "5:3",
    says: ['"store_bukets" is not a key of the configuration: did you mean store_buckets?'],
  },
  {
    what: "a top-level key that belongs in triggers",
    text: object(',\n  "crons": []'),
    at: "5:3",
    says: ['"crons" belongs in "triggers".'],
  },
  {
    what: "a top-level key inside of a bucket",
    text: object(',\n  "store_buckets": [{ "binding": "A", "bucket_name": "aaa", "routes": [] }]'),
    at: "5:61",
    says: ['"routes" belongs in the outermost object.'],
  },
  {
    what: "a missing name",
    text: object("").replace('  "name": "photos",\n', ""),
    at: "1:1",
    says: ['"name" is missing.', "Add this to the object:", '    "name": "'],
  },
  {
    what: "a bucket without its bucket_name",
    text: object(',\n  "store_buckets": [\n    { "binding": "A" }\n  ]'),
    at: "6:5",
    says: ["    | ", '"bucket_name" is missing', '"bucket_name": "photos"'],
  },
  { what: "a list instead of an object", text: "\n[]\n", at: "2:1", says: ["must be an object, not a list"] },
  {
    what: "null instead of a list of routes",
    text: object(', "routes": null'),
    at: "4:49",
    says: ["a list, not null"],
  },
  {
    what: "an object instead of a list of buckets",
    text: object(', "store_buckets": {}'),
    at: "4:56",
    says: ["not an object", "[{"],
  },
  {
    what: "a number with too many digits",
    text: object(',\n  "vars": { "ID": 12345678901234567890 }'),
    at: "5:19",
    says: ["more digits than can be kept", '"12345678901234567890"'],
  },
  {
    what: "a number beyond the range of JavaScript",
    text: object(', "vars": { "A": 1e999 }'),
    at: "4:54",
    says: ["1e999"],
  },
  { what: "an empty variable name", text: object(', "vars": { "": 1 }'), at: "4:49", says: ['called "".'] },
];

test("errors in a JSON configuration are described with JSON terms and examples, not with TOML", async (t) => {
  await refusals(t, await project(t), "store.json", jsonRows);
});
