// Prints a random sample of comments and test titles for review: `npm run sample:prose -- SEED
// [COUNT]`. The same seed and sources give the same sample.
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRandom } from "./support/random.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const [seedText = String(randomInt(2 ** 31)), countText = "100"] = process.argv.slice(2);
const [seed, count] = [Number(seedText), Number(countText)];
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(count) || count < 1) {
  console.error("usage: npm run sample:prose -- [SEED [COUNT]]");
  process.exit(2);
}

const comments: string[] = [];
const titles: string[] = [];
for (const folder of ["src", "test", "bench"]) {
  for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).sort()) {
    if (/\.(ts|js)$/.test(name)) collect(`${folder}/${name}`);
  }
}
const random = createRandom(seed);
for (const [what, all] of Object.entries({ comments, "test titles": titles })) {
  console.log(`\n${Math.min(count, all.length)} of ${all.length} ${what}, seed ${seed}`);
  for (let drawn = 0; drawn < count && all.length > 0; drawn++) {
    const [entry] = all.splice(random.below(all.length), 1);
    console.log(`${drawn + 1}. ${entry}`);
  }
}

/** Collects blocks of comment lines, and the first arguments of calls such as `test("…"`. */
function collect(file: string): void {
  const text = readFileSync(join(root, file), "utf8");
  for (const [block] of text.matchAll(/(^[ \t]*(\/\/|\/\*\*|\*[ /]).*\n)+/gm)) {
    comments.push(`${file}\n   ${block.trim().replace(/\n\s*/g, "\n   ")}`);
  }
  for (const [, title] of text.matchAll(/\b(?:test|it|suite|describe)\(\s*("[^"]+"|`[^`]+`),/g)) {
    titles.push(`${file}: ${title}`);
  }
}
