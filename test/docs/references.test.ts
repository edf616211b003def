// Checks that the generated pages of docs/ match the code.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { references } from "../../docs-site/references/references.ts";
import { schemaVersion as clusterSchema } from "../../src/cluster/schema/schema.ts";
import { schemaVersion as directorySchema } from "../../src/local/index/schema.ts";
import { root } from "../cli/store.ts";
import { tableUnder } from "./page/markdown.ts";

test("the references in docs/ and the man page are up to date with the S3 operations and the commands", async () => {
  for (const { file, text } of await references()) {
    assert.equal(readFileSync(join(root, file), "utf8"), text, `${file} is out of date: run npm run docs`);
  }
});

test("docs/upgrading.md lists every schema of directories and of clusters", () => {
  const rows = tableUnder(readFileSync(join(root, "docs/upgrading.md"), "utf8"), "Schemas");
  const numbers = (column: number) =>
    rows.flatMap((row) => (row[column] === "" ? [] : row[column]!.split(", ").map(Number))).sort();
  const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);
  assert.deepEqual(numbers(0), upTo(directorySchema));
  assert.deepEqual(numbers(1), upTo(clusterSchema));
});
