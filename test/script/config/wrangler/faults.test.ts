// Mistakes in wrangler files are reported with position, the file's own keys, and a correction.
import { test } from "node:test";
import { project, type Row, refusals } from "../../../support/projects.ts";

const least = 'name = "gallery"\nmain = "src/index.ts"\ncompatibility_date = "2026-01-01"\n';

const rows: readonly Row[] = [
  {
    what: "an unknown key that resembles a known key",
    text: `${least}r2_bucket = []\n`,
    at: "4:1",
    says: ['"r2_bucket" is not a key of the configuration: did you mean r2_buckets?'],
  },
  {
    what: "an unknown key that resembles no known key",
    text: `${least}foo = 1\n`,
    at: "4:1",
    says: ['"foo" is not a key of the configuration.', "Remove it."],
  },
  {
    what: "buckets that are not a list",
    text: `${least}r2_buckets = "photos"\n`,
    at: "4:14",
    says: ['"r2_buckets" must be a list, not a string.', "[[r2_buckets]]"],
  },
  {
    what: "a bucket without a binding",
    text: `${least}[[r2_buckets]]\nbucket_name = "aaa"\n`,
    at: "4:1",
    says: ['"binding" is missing in r2_buckets.', 'binding = "PHOTOS"'],
  },
  {
    what: "a bucket_name that is not a string",
    text: `${least}[[r2_buckets]]\nbinding = "A"\nbucket_name = 7\n`,
    at: "6:15",
    says: ['"r2_buckets[0].bucket_name" must be a string, not a number.'],
  },
  {
    what: "a list of unsupported bindings that are not tables",
    text: `${least}d1_databases = ["DB"]\n`,
    at: "4:17",
    says: ['"d1_databases[0]" must be a table, not a string.'],
  },
  {
    what: "environments that are not a table",
    text: `${least}env = ["staging"]\n`,
    at: "4:7",
    says: ['"env" must be a table, not a list.'],
  },
  {
    what: "an unsupported binding without a name",
    text: `${least}[[queues.producers]]\nqueue = "jobs"\n`,
    at: "4:1",
    says: ['"binding" is missing in queues.producers.', 'binding = "NAME"'],
  },
  {
    what: "the same name for two kinds of bindings",
    text: `${least}r2_buckets = [{ binding = "DB", bucket_name = "aaa" }]\nd1_databases = [{ binding = "DB" }]\n`,
    at: "5:29",
    says: ['"DB" is already the name of a bucket binding, on line 4.'],
  },
  {
    what: "a main that does not exist",
    text: least.replace("index.ts", "worker.ts"),
    at: "2:8",
    says: ['There is no file "src/worker.ts"', "npm run build"],
  },
  {
    what: "a configuration without main and assets",
    text: 'name = "a"\ncompatibility_date = "2026-01-01"\n',
    at: "1:1",
    says: ['"main" is missing.', 'main = "src/index.ts"', "Or name it: store dev src/index.ts"],
  },
  {
    what: "an assets directory that does not exist",
    text: `${least}[assets]\ndirectory = "./dist"\n`,
    at: "5:13",
    says: ['There is no folder "./dist".', "npm run build"],
  },
  {
    what: "a string as dev.port",
    text: `${least}[dev]\nport = "8787"\n`,
    at: "5:8",
    says: ['"dev.port" must be a whole number up to 65535.', "port = 8787"],
  },
  {
    what: "a compatibility_date that is not in the calendar",
    text: least.replace("2026-01-01", "2026-02-30"),
    at: "3:22",
    says: ["is not a day of the calendar", 'compatibility_date = "2026-11-15"'],
  },
];

test("each mistake in a wrangler file is reported with position and correction", async (t) => {
  await refusals(t, await project(t), "wrangler.toml", rows);
});

const jsonRows: readonly Row[] = [
  {
    what: "a mistyped key",
    text: '{\n  "name": "a", "main": "src/index.ts",\n  "compatability_date": "2026-01-01"\n}',
    at: "3:3",
    says: ["did you mean compatibility_date?"],
  },
  {
    what: "a list instead of an object",
    text: "[]",
    at: "1:1",
    says: ["must be an object, not a list."],
  },
];

test("each mistake in wrangler.jsonc is reported with position and correction", async (t) => {
  await refusals(t, await project(t), "wrangler.jsonc", jsonRows);
});
