// Configurations as documentation shows them. A fragment stands for a file that also has what every file has.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig, type ScriptConfig } from "../../src/script/config/config.ts";
import type { Block } from "./markdown.ts";
import { writeFiles } from "./project.ts";

const required = { name: "photos", main: "src/index.ts", compatibility_date: "2026-11-01" };

export function isConfig({ language }: Block): boolean {
  return language === "toml" || language === "json";
}

/** What becomes of a configuration in a folder where its script is. */
export async function readShown(folder: string, block: Block): Promise<ScriptConfig> {
  await writeFiles(folder, { "src/index.ts": "", "index.js": "", "public/index.html": "" });
  const file = join(folder, `store.${block.language}`);
  await writeFile(file, completed(block));
  return readConfig(file);
}

function completed({ language, text }: Block): string {
  const missing = Object.entries(required).filter(
    ([key]) => !new RegExp(`^ *\\{? *"?${key}"?\\b`, "m").test(text),
  );
  if (language === "toml") return missing.map(([key, value]) => `${key} = "${value}"\n`).join("") + text;
  const members = missing.map(([key, value]) => `"${key}": "${value}", `).join("");
  assert.ok(text.startsWith("{"));
  return `{ ${members}${text.slice(1)}`;
}

/** The two forms of one configuration, where one stands right behind the other. */
export function pairsOf(blocks: readonly Block[]): [Block, Block][] {
  return blocks.flatMap((block, i): [Block, Block][] => {
    const next = blocks[i + 1];
    return block.language === "toml" && next?.language === "json" ? [[block, next]] : [];
  });
}
