// Checks docs/kv.md: runs its code and its commands, and compares its limits with the code.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { keyValueLimits } from "../../src/model/key-value.ts";
import { root } from "../cli/store.ts";
import { programOf } from "./page/code.ts";
import { type Block, blocksOf } from "./page/markdown.ts";
import { cloneFolder, writeFiles } from "./page/project.ts";
import { playPage } from "./page/terminal-page.ts";
import { play } from "./page/transcript.ts";

const page = "docs/kv.md";
const text = readFileSync(join(root, page), "utf8");

const opening =
  'const $store = await (await import("store-server")).openStore("memory:"); ' +
  'await $store.createKvNamespace("kv"); const env = { KV: $store.kv("kv") };';

/** Opens the namespace in one line before the block, so that line numbers in errors stay right. */
function withNamespace(block: Block): Block {
  if (block.text.startsWith("import ")) return block;
  return { ...block, line: block.line - 1, text: `${opening}\n${block.text}\nawait $store.close();` };
}

test("every example in docs/kv.md returns the values shown", async (t) => {
  const blocks = blocksOf(text).filter(({ language }) => language === "js");
  assert.ok(blocks.length > 6);
  const directory = await cloneFolder(t, "kv");
  for (const [i, block] of blocks.entries()) {
    await writeFiles(directory, { [`block-${i}.js`]: programOf(page, withNamespace(block)) });
    await play([{ command: `node block-${i}.js 2>&1`, prints: "" }], { directory });
  }
});

test("every command in docs/kv.md prints the output shown", (t) => playPage(t, "kv.md"));

test("docs/kv.md lists the limits that the code enforces", () => {
  const { keyBytes, valueBytes, metadataBytes, minTtl, minCacheTtl, listKeys, bulkKeys } = keyValueLimits;
  for (const row of [
    `1 to ${keyBytes} bytes`,
    `a value | ${valueBytes / 1024 / 1024} MiB`,
    `metadata | ${metadataBytes.toLocaleString("en")} bytes`,
    `at least ${minTtl} seconds`,
    `at least ${minCacheTtl} seconds`,
    `keys of a list | ${listKeys.toLocaleString("en")}`,
    `keys of a get | ${bulkKeys}`,
  ]) {
    assert.ok(text.includes(row), row);
  }
});
