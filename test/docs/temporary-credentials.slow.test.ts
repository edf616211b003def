// Checks docs/temporary-credentials.md: runs its commands, and compares its tables with the code.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { stsErrors } from "../../src/s3/sts/errors.ts";
import { root } from "../cli/store.ts";
import { playPage } from "./page/terminal-page.ts";

test("every command in docs/temporary-credentials.md prints the output shown", (t) =>
  playPage(t, "temporary-credentials.md"));

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
