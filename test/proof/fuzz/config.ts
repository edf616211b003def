// Fuzz targets of configuration files (TOML, JSON, JSONC), cron expressions and routes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseConfig } from "../../../src/script/config/config.ts";
import { nextRun, parseCron } from "../../../src/script/config/cron.ts";
import { parseRoute } from "../../../src/script/config/route-patterns.ts";
import { ConfigError } from "../../../src/script/config/syntax/error.ts";
import { parseSource } from "../../../src/script/config/syntax/source.ts";
import { holds, kindOf, type Runner, type Target } from "./target.ts";

const toml = `# A script
name = "photos"
main = "index.js"
compatibility_date = 2026-11-01
compatibility_flags = ["list_honor_include"]
routes = ["photos.example.com/*", '*.example.org/api/*']

[triggers]
crons = ["*/5 * * * *", "0 4 * * SUN"]

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"

[[store_buckets]]
binding = 'OTHER'
bucket_name = """other"""

[vars]
GREETING = "hello \\u00fc\\n"
LIMIT = 1_000
nested.deep."quoted key" = { a = [1, 2.5, true], b = 1979-05-27T07:32:00Z }
`;

const json = `{
  "$schema": "x", "name": "photos", "main": "index.js", "compatibility_date": "2026-11-01",
  "routes": ["photos.example.com/*"], "triggers": { "crons": ["*/5 * * * *"] },
  "store_buckets": [{ "binding": "PHOTOS", "bucket_name": "photos" }],
  "vars": { "GREETING": "hello \\u00fc", "LIMIT": 1e3, "NESTED": { "a": [1, null, true, { "b": -0.5 }] } }
}`;

const jsonc = `// A script
{
  "name": "photos", /* its name */
  "main": "index.js",
  "compatibility_date": "2026-11-01",
  "store_buckets": [{ "binding": "PHOTOS", "bucket_name": "photos", },],
  "vars": { "A": "b", },
}`;

const small = [
  'name = "a"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n',
  "[a.b]\nc.d = [[1], {}]\n",
];

const tokens = [
  ...[
    "[[",
    "]]",
    "[vars]\n",
    "[[store_buckets]]\n",
    "[triggers]\n",
    '"""',
    "'''",
    "\\u",
    "\\x",
    "#",
    "//",
    "/*",
    "*/",
  ],
  ...[
    "a.a.a",
    "{a=",
    "{a.b=1}",
    '{"a":',
    "[1,",
    "inf",
    "-nan",
    "0b1",
    "1979-05-27",
    "07:32:00",
    "name",
    "vars",
    "true",
  ],
  ...['"name": ', "a = 1\n", "crons", "binding", "bucket_name", '"a"', "{", "[", "}", "]", "null", "“"],
];

function configTarget(name: string, samples: readonly string[]): Target {
  return {
    name: `config: ${name}`,
    form: "bytes",
    samples,
    tokens,
    longest: 16_384,
    open(): Runner {
      const directory = mkdtempSync(join(tmpdir(), "store-test-"));
      writeFileSync(join(directory, "index.js"), "");
      const file = join(directory, `store.${name}`);
      return {
        run(input) {
          const source = parseSource(file, () => Buffer.from(input, "latin1"));
          const { buckets, vars } = parseConfig(source, { now: () => 1_794_700_800_000 });
          // Variables are passed to the script as JSON, so they must be serializable.
          holds(typeof JSON.stringify(vars) === "string", "the variables are not JSON");
          return `taken, ${buckets.length} buckets`;
        },
        outcomeOf(error) {
          if (!(error instanceof ConfigError)) return undefined;
          const [fault] = error.faults;
          const isPlaced = error.faults.every(({ line, column }) => line >= 1 && column >= 1);
          holds(fault !== undefined && isPlaced, "a fault has no line and column");
          return kindOf(fault!.message);
        },
        close: async () => rmSync(directory, { recursive: true }),
      };
    },
  };
}

/** Returns the outcome of the documented error: a RangeError with a clear message. */
function rangeErrorOutcome(error: unknown): string | undefined {
  return error instanceof RangeError ? kindOf(error.message) : undefined;
}

const cron: Target = {
  name: "cron expressions",
  form: "text",
  samples: [
    "*/5 * * * *",
    "0 4 * * SUN",
    "59 23 31 12 7",
    "1,2,3-9/2 0-23 1-31 JAN-DEC MON-FRI",
    "0 0 29 2 */7",
  ],
  tokens: ["*/", "MON", "sun", "7", "60", "31", "29", "2", "-", "/0", ",", " * ", "@daily"],
  longest: 8192,
  open: () => ({
    run(input) {
      const parsed = parseCron(input);
      const after = new Date(1_794_700_800_000);
      const next = nextRun(parsed, after);
      holds(next > after && next.getTime() % 60_000 === 0, `has an invalid next run: ${next.toISOString()}`);
      holds(parsed.minutes.has(next.getUTCMinutes()), "runs at a minute it does not name");
      holds(parsed.months.has(next.getUTCMonth() + 1), "runs in a month it does not name");
      return `taken, ${parsed.eitherDay}`;
    },
    outcomeOf: rangeErrorOutcome,
  }),
};

const routes: Target = {
  name: "routes",
  form: "text",
  samples: [
    "photos.example.com/*",
    "*.example.com/api/*",
    "*/health",
    "[::1]/x",
    "bücher.example/a%20b",
    "a.b:80/*",
  ],
  tokens: ["*", "*.", "https://", ":8080", "/*", "?a", "#b", "xn--", "a-", "[", "]"],
  open: () => ({
    run(input) {
      const { pattern, host, path } = parseRoute(input);
      holds(pattern === input, "is not the pattern that was given");
      holds(path.prefix.startsWith("/"), "has a path without a slash");
      return `taken, ${host?.below} ${path.open}`;
    },
    outcomeOf: rangeErrorOutcome,
  }),
};

export const configTargets: readonly Target[] = [
  configTarget("toml", [toml, ...small]),
  configTarget("json", [json, '{"name":"a","main":"index.js","compatibility_date":"2026-11-01"}', "[1,{}]"]),
  configTarget("jsonc", [jsonc, json]),
  cron,
  routes,
];
