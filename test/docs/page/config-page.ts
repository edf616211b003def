// Reads configurations in the documentation. Adds the required keys to fragments that omit them.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig, type ScriptConfig } from "../../../src/script/config/config.ts";
import type { Block } from "./markdown.ts";
import { writeFiles } from "./project.ts";

const required = { name: "photos", main: "src/index.ts", compatibility_date: "2026-11-01" };

export function isConfig({ language }: Block): boolean {
  return language === "toml" || language === "json";
}

/** Parses a configuration, in a folder that contains its script. */
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

/** Returns pairs of a TOML block and the JSON block after it with the same configuration. */
export function pairsOf(blocks: readonly Block[]): [Block, Block][] {
  return blocks.flatMap((block, i): [Block, Block][] => {
    const next = blocks[i + 1];
    return block.language === "toml" && next?.language === "json" ? [[block, next]] : [];
  });
}
