// Errors in the top-level keys of a configuration. Each row has one error and its expected report.
import assert from "node:assert/strict";
import { test } from "node:test";
import { project, type Row, refusals } from "../../support/projects.ts";

const least = 'name = "photos"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n';
const name = (value: string) => least.replace('"photos"', value);
const main = (value: string) => least.replace('"src/index.ts"', value);
const date = (value: string) => least.replace('"2026-11-01"', value);
const bucket = (binding: string, bucketName: string) =>
  `${least}[[store_buckets]]\nbinding = ${binding}\nbucket_name = ${bucketName}\n`;

const rows: readonly Row[] = [
  {
    what: "a mistyped top-level key",
    text: `${least}rotues = []\n`,
    at: "4:1",
    says: ['"rotues" is not a key of the configuration: did you mean routes?'],
  },
  {
    what: "an abbreviated required key",
    text: least.replace("compatibility_date", "compat_date"),
    at: "3:1",
    says: ["did you mean compatibility_date?"],
  },
  {
    what: "a key in the wrong case",
    text: `${least}Routes = []\n`,
    at: "4:1",
    says: ["did you mean routes?"],
  },
  {
    what: "a key that resembles no known key",
    text: `${least}zone = 1\n`,
    at: "4:1",
    says: ['"zone" is not a key of the configuration.', "Its keys are: name, main, compatibility_date"],
  },
  {
    what: "a mistyped key of a bucket",
    text: bucket('"A"', '"aaa"').replace("bucket_name", "bucketname"),
    at: "6:1",
    says: ['"bucketname" is not a key of store_buckets: did you mean bucket_name?'],
  },
  {
    what: "a mistyped key of triggers",
    text: `${least}[triggers]\ncron = []\n`,
    at: "5:1",
    says: ['"cron" is not a key of triggers: did you mean crons?'],
  },
  {
    what: "a key of triggers at the top level",
    text: `${least}crons = []\n`,
    at: "4:1",
    says: ['"crons" belongs under [triggers].'],
  },
  {
    what: "a key of a bucket at the top level",
    text: `${least}binding = "A"\n`,
    at: "4:1",
    says: ['"binding" belongs under [[store_buckets]].'],
  },
  {
    what: "a top-level key after a bucket table",
    text: `${bucket('"A"', '"aaa"')}routes = []\n`,
    at: "7:1",
    says: ['"routes" belongs at the top of the file, above the first [table].'],
  },
  {
    what: "a required top-level key after [vars]",
    text: least.replace("compatibility_date", '[vars]\nA = "1"\ncompatibility_date'),
    at: "5:1",
    says: ["here it is one of the variables", "above the first [table]"],
  },
  {
    what: "a missing name",
    text: least.split("\n").slice(1).join("\n"),
    at: "1:1",
    says: ['"name" is missing.', "Add this line at the top of the file:", '    name = "'],
  },
  {
    what: "a missing main",
    text: least.replace(/main.*\n/, ""),
    at: "1:1",
    says: ['"main" is missing.', '    main = "src/index.ts"'],
  },
  {
    what: "a missing compatibility_date",
    text: least.replace(/compat.*\n/, ""),
    at: "1:1",
    says: ['"compatibility_date" is missing.', '    compatibility_date = "2026-11-15"'],
  },
  { what: "a name that is a number", text: name("5"), at: "1:8", says: ["must be a string, not a number"] },
  {
    what: "a name with capital letters",
    text: name('"Photos"'),
    at: "1:8",
    says: ["cannot be a script's name", "lowercase letters, digits and dashes", 'Write: name = "photos"'],
  },
  { what: "an empty name", text: name('""'), at: "1:8", says: ["cannot be a script's name"] },
  {
    what: "a name with 64 letters",
    text: name(`"${"x".repeat(64)}"`),
    at: "1:8",
    says: [`name = "${"x".repeat(63)}"`],
  },
  { what: "a name that ends in a dash", text: name('"a-"'), at: "1:8", says: ['name = "a"'] },
  { what: "a main that is a list", text: main('["a"]'), at: "2:8", says: ["not a list", 'main = "src'] },
  {
    what: "a main that does not exist",
    text: main('"worker.ts"'),
    at: "2:8",
    says: ['There is no file "worker.ts".', "begins at the folder of store.toml", "/worker.ts"],
  },
  {
    what: "a main in a folder that does not exist",
    text: main('"lib/index.ts"'),
    at: "2:8",
    says: ['no file "lib/index.ts".'],
  },
  { what: "a main inside of a file", text: main('"src/index.ts/x"'), at: "2:8", says: ["There is no file"] },
  { what: "a main with a NUL character", text: main('"src\\u0000"'), at: "2:8", says: ["There is no file"] },
  {
    what: "a main with the wrong extension",
    text: main('"src/index.mjs"'),
    at: "2:8",
    says: ['did you mean "src/index.ts"?'],
  },
  { what: "a mistyped main", text: main('"src/indx.ts"'), at: "2:8", says: ['did you mean "src/index.ts"?'] },
  { what: "a main that is a folder", text: main('"src"'), at: "2:8", says: ['"src" is not a file'] },
  { what: "an empty main", text: main('""'), at: "2:8", says: ["is empty"] },
  {
    what: "a word as compatibility_date",
    text: date('"today"'),
    at: "3:22",
    says: ['"today" is not a date: it is written year-month-day', 'compatibility_date = "2026-11-15"'],
  },
  {
    what: "a compatibility_date in the order day, month, year",
    text: date('"01.11.2026"'),
    at: "3:22",
    says: ["year-month-day"],
  },
  {
    what: "a compatibility_date that is not in the calendar",
    text: date('"2026-02-29"'),
    at: "3:22",
    says: ["not a day of the calendar"],
  },
  {
    what: "a compatibility_date without quotes that is not in the calendar",
    text: date("2026-02-29"),
    at: "3:22",
    says: ["not a day of the calendar"],
  },
  { what: "a date with a time", text: date("2026-02-01T10:00:00Z"), at: "3:22", says: ["is not a date"] },
  { what: "a number as date", text: date("20261101"), at: "3:22", says: ["a string, not a number"] },
  {
    what: "a mistyped compatibility flag",
    text: `${least}compatibility_flags = ["store_list_honour_include"]\n`,
    at: "4:24",
    says: ["There is no compatibility flag", "did you mean store_list_honor_include?"],
  },
  {
    what: "an unknown compatibility flag",
    text: `${least}compatibility_flags = [\n  "python_workers",\n]\n`,
    at: "5:3",
    says: ["The flags are: store_list_honor_include, store_delimited_prefixes_keep_delimiter"],
  },
  {
    what: "a compatibility flag that is not in a list",
    text: `${least}compatibility_flags = "store_list_honor_include"\n`,
    at: "4:23",
    says: ["must be a list, not a string", 'Write: compatibility_flags = ["store_list_honor_include"]'],
  },
];

test("each error in a top-level key is reported with position, reason and fix", async (t) => {
  await refusals(t, await project(t), "store.toml", rows);
});

test("property names of Object.prototype are refused as configuration keys", async (t) => {
  const { refused } = await project(t);
  for (const key of ["constructor", "toString", "hasOwnProperty", "__proto__"]) {
    const { faults } = await refused("store.toml", `${least}"${key}" = 1\n`);
    assert.equal(faults[0]?.message.startsWith(`"${key}" is not a key of the configuration`), true);
  }
});
