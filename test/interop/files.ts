// Files to upload and compare: names that a client or the server could misinterpret, and a file
// large enough for several parts.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { filesIn } from "../cli/store.ts";
import { assertBytes } from "../support/bytes.ts";

export const MiB = 1024 * 1024;
export const partSize = 8 * MiB;
/** Size of a file of five parts of 8 MiB, the last of them shorter. */
export const bigSize = 40 * MiB - 12_345;

export const oddNames = [
  "plain.txt",
  "two words.txt",
  " space around ",
  "ünï cödé/日本語 ☃ 🎉.txt",
  "cafe\u0301, decomposed.txt",
  "a+b=c&d.txt",
  "100%.txt",
  "%41%2F%zz.txt",
  'it\'s "quoted".txt',
  ".hidden",
  ".folder/.inside",
  "deep/er/and/deeper/still/file.bin",
  "empty",
  "what?#;:@!$,~*()[]{}|^`.txt",
  "<xml> &amp; co.txt",
  "back\\slash.txt",
];

export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

/** Writes a file for each unusual name, each with different content. */
export async function writeOddFiles(folder: string): Promise<void> {
  const content = (name: string, i: number) => (name === "empty" ? "" : `${name}\n`.repeat(i * i + 1));
  await writeFiles(folder, Object.fromEntries(oddNames.map((name, i) => [name, content(name, i)])));
}

/** Writes a file of `bigSize` bytes and returns the bytes. */
export async function writeBigFile(file: string): Promise<Buffer> {
  // Random bytes, so that a client cannot compress them into fewer parts.
  const bytes = randomBytes(bigSize);
  await writeFile(file, bytes);
  return bytes;
}

export async function assertSameFolders(actual: string, expected: string): Promise<void> {
  assert.deepEqual(await filesIn(actual), await filesIn(expected));
}

export async function assertFile(file: string, expected: Uint8Array): Promise<void> {
  assertBytes(await readFile(file), expected, file);
}

/** Changes a file without changing its size, extends a file, adds a file and deletes a file. */
export async function changeFiles(folder: string): Promise<void> {
  const old = await readFile(join(folder, "plain.txt"));
  await writeFiles(folder, {
    "plain.txt": old.fill("x"),
    "two words.txt": "grown, and no longer what it was\n".repeat(100),
    "added/later + on.txt": "new\n",
  });
  await rm(join(folder, "100%.txt"));
}
