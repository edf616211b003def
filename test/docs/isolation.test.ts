// Checks docs/isolation.md: its tables of differences are the lists that the contract tests use.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../cli/store.ts";
import { bucketDifferences } from "../contracts/runtime/bucket-differences.ts";
import type { Difference } from "../contracts/runtime/differences.ts";
import { kvDifferences } from "../contracts/runtime/kv-differences.ts";
import { tableUnder } from "./page/markdown.ts";

const page = readFileSync(join(root, "docs/isolation.md"), "utf8");

const lists: Readonly<Record<string, readonly Difference[]>> = {
  Buckets: bucketDifferences,
  "Key-value namespaces": kvDifferences,
};

for (const [heading, differences] of Object.entries(lists)) {
  test(`docs/isolation.md lists every difference of ${heading.toLowerCase()} with its reason`, () => {
    assert.deepEqual(
      tableUnder(page, heading).map(([what, reason]) => [what, reason]),
      differences.map(({ what, reason }) => [what, reason]),
    );
  });
}
