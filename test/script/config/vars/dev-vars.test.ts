// Development variables: the dotenv syntax, which files are read, and refused files.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ReadOptions, readConfig } from "../../../../src/script/config/config.ts";
import { ConfigError } from "../../../../src/script/config/syntax/error.ts";
import { maxDevVarsBytes } from "../../../../src/script/config/vars/dev-vars.ts";
import { expandDotenv, parseDotenv } from "../../../../src/script/config/vars/dotenv.ts";
import { now, project } from "../../../support/projects.ts";

function parsed(text: string): Record<string, string> {
  const entries = parseDotenv({ file: "/x/.dev.vars", text });
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
}

test("dotenv files may have comments, quotes, export and values over several lines", () => {
  const text = `# A comment
PLAIN = hello world  # not this

export EXPORTED=yes
EMPTY=
SINGLE='a "b" # c\\n'
DOUBLE="a\\nb # c"
BACK=\`it's "both"\`
LINES="first
second"
URL=http://example.com/?a=b
YAML: value
a.b-c=1\r
LAST=x`;
  assert.deepEqual(parsed(text), {
    PLAIN: "hello world",
    EXPORTED: "yes",
    EMPTY: "",
    SINGLE: 'a "b" # c\\n',
    DOUBLE: "a\nb # c",
    BACK: `it's "both"`,
    LINES: "first\nsecond",
    URL: "http://example.com/?a=b",
    YAML: "value",
    "a.b-c": "1",
    LAST: "x",
  });
  assert.deepEqual(parsed(""), {});
});

const faults: readonly (readonly [string, string, RegExp])[] = [
  ["A=1\nnonsense\n", "2:1", /not of the form NAME=value\.[\s\S]*Write: nonsense=value/],
  ["=value\n", "1:1", /not of the form NAME=value\.[\s\S]*Write: NAME=value/],
  ['A="open\nB=2\n', "1:3", /closing quote is missing[\s\S]*Close it with "/],
  ["A='x' y\n", "1:6", /something after the closing quote/],
  ["__proto__=x\n", "1:1", /cannot be called "__proto__"/],
];

test("an invalid dotenv line is refused with its position and a correction", () => {
  for (const [text, at, says] of faults) {
    assert.throws(
      () => parsed(text),
      (error: unknown) => {
        assert.ok(error instanceof ConfigError);
        assert.equal(`${error.faults[0]!.line}:${error.faults[0]!.column}`, at, text);
        assert.match(error.message, says);
        return true;
      },
    );
  }
});

test("references between dotenv variables are expanded, and cycles terminate", () => {
  const braced = (inner: string) => `$\{${inner}}`;
  const values = { A: "1", B: `$A-${braced("A")}`, C: braced("NONE:-x"), D: "\\$A", G: braced("G") };
  assert.deepEqual(expandDotenv(values), { A: "1", B: "1-1", C: "x", D: "$A", G: braced("G") });
  assert.match(expandDotenv({ E: "$F", F: "$E" }).E!, /^\$[EF]$/);
});

const wrangler = `name = "a"
main = "src/index.ts"
compatibility_date = "2026-01-01"
r2_buckets = [{ binding = "FILES", bucket_name = "files" }]
vars = { TITLE = "x" }
[env.staging]
`;

test("store dev reads .dev.vars.<environment> or .dev.vars, and .env only if neither exists", async (t) => {
  const { write, directory } = await project(t);
  const file = await write("wrangler.toml", wrangler);
  const read = (options: ReadOptions = {}) => readConfig(file, { now, mode: "dev", ...options });
  await write(".env", "A=env\nB=$A\n");
  await write(".env.local", "C=local\n");
  assert.deepEqual(read().devVars, { A: "env", B: "env", C: "local" });
  assert.deepEqual(read({ readsDotEnv: false }).devVars, {});
  await write(".env.staging", "A=staging\n");
  assert.deepEqual(read({ environment: "staging" }).devVars, { A: "staging", B: "staging", C: "local" });
  await write(".dev.vars", "TITLE=dev\n");
  assert.deepEqual(read().devVars, { TITLE: "dev" });
  assert.deepEqual(read().notes, [".dev.vars: sets TITLE in env."]);
  await write(".dev.vars.staging", "ONLY=this\n");
  assert.deepEqual(read({ environment: "staging" }).devVars, { ONLY: "this" });
  assert.ok(read({ environment: "staging" }).watched.includes(`${directory}/.dev.vars.staging`));
  assert.deepEqual(readConfig(file, { now, mode: "serve" }).devVars, {});
});

test("with a store file, .dev.vars is read and .env is not", async (t) => {
  const { write } = await project(t);
  const file = await write("store.toml", wrangler.replace("r2_buckets", "store_buckets"));
  await write(".env", "A=env\n");
  assert.deepEqual(readConfig(file, { now, mode: "dev" }).devVars, {});
  await write(".dev.vars", "B=dev\n");
  assert.deepEqual(readConfig(file, { now, mode: "dev" }).devVars, { B: "dev" });
});

test("if the configuration declares secrets, .dev.vars can set only declared secrets and variables", async (t) => {
  const { write } = await project(t);
  const text = wrangler.replace("[env", '[secrets]\nrequired = ["KEY"]\n[env');
  await write(".dev.vars", "KEY=1\nTITLE=2\nOTHER=3\n");
  const { devVars } = readConfig(await write("wrangler.toml", text), { now, mode: "dev" });
  assert.deepEqual(devVars, { KEY: "1", TITLE: "2" });
});

test("a development variable with the name of a binding, and a file that is too large, are refused", async (t) => {
  const { write } = await project(t);
  const file = await write("wrangler.toml", wrangler);
  await write(".dev.vars", "A=1\nFILES=x\n");
  assert.throws(
    () => readConfig(file, { now, mode: "dev" }),
    /\.dev\.vars:2:1: "FILES" is already the name of a bucket binding in the configuration\./,
  );
  await write(".dev.vars", `A=${"x".repeat(maxDevVarsBytes)}`);
  assert.throws(() => readConfig(file, { now, mode: "dev" }), /\.dev\.vars has 262146 bytes.*at most 262144/);
});
