// Checks docs/temporary-credentials.md: runs its commands, and compares its tables with the code.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { anonymous } from "../../src/access/decide.ts";
import { evaluatePolicy } from "../../src/access/policy/evaluate.ts";
import { parseSessionPolicy } from "../../src/access/policy/parse.ts";
import { stsErrors } from "../../src/s3/sts/errors.ts";
import { root } from "../cli/store.ts";
import { blocksOf } from "./page/markdown.ts";
import { playPage } from "./page/terminal-page.ts";

test("every command in docs/temporary-credentials.md prints the output shown", (t) =>
  playPage(t, "temporary-credentials.md"));

test("the session policy in docs/temporary-credentials.md allows what it says", async () => {
  const text = await readFile(join(root, "docs", "temporary-credentials.md"), "utf8");
  const [block, ...more] = blocksOf(text).filter(({ language }) => language === "json");
  assert.equal(more.length, 0);
  const policy = parseSessionPolicy(block!.text);
  const effect = (action: string, resource: string, prefix?: string) =>
    evaluatePolicy(policy, {
      ...{ caller: anonymous, actions: [action], resource },
      values: (key) => (key === "s3:prefix" && prefix !== undefined ? [prefix] : undefined),
    });
  assert.equal(effect("s3:PutObject", "photos/2026/a"), "allow");
  assert.equal(effect("s3:PutObject", "photos/2025/a"), "neutral");
  assert.equal(effect("s3:DeleteObject", "photos/2026/a"), "neutral");
  assert.equal(effect("s3:ListBucket", "photos", "2026/08"), "allow");
  assert.equal(effect("s3:ListBucket", "photos"), "neutral");
});

test("docs/temporary-credentials.md lists every error code of STS with its status", async () => {
  const text = await readFile(join(root, "docs", "temporary-credentials.md"), "utf8");
  const listed = [...text.matchAll(/^\| (\w+) \| (\d{3}) \|$/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  assert.deepEqual(
    listed,
    Object.entries(stsErrors).map(([code, [status]]) => [code, status]),
  );
});
