// Turns code of the documentation into tests: `expression; // → value` asserts the value,
// `expression; // throws Name: message` asserts the error. In a message, `…` matches any text.
import assert from "node:assert/strict";
import type { Block } from "./markdown.ts";

/** Source of the assertion functions, added to every program. */
const checks = `
import assert from "node:assert/strict";
async function $gives(where, run, shown) {
  assert.deepStrictEqual(await run(), shown(), where);
}
async function $throws(where, run, shown) {
  const told = await run().then(
    (value) => assert.fail(where + " throws nothing and gives " + JSON.stringify(value)),
    (error) => error.name + ": " + error.message,
  );
  const pieces = shown.split("…").map((piece) => piece.replace(/[.*+?^\${}()|[\\]\\\\]/g, "\\\\$&"));
  if (!new RegExp("^" + pieces.join("[^]*") + "$").test(told)) assert.equal(told, shown, where);
}
`;

function checked(page: string, { text, line: first }: Block): string {
  const lines = text.split("\n").map((line, index) => {
    const [, expression, sign, shown] = /^\s*(\S.*?);? +\/\/ (→|throws) (.*)$/.exec(line) ?? [];
    const where = JSON.stringify(`${page}:${first + index}`);
    if (expression === undefined) {
      assert.doesNotMatch(line, /\/\/ (→|throws)/, `${where} shows nothing that can be checked`);
      return line;
    }
    const run = `async () => (${expression})`;
    return sign === "→"
      ? `await $gives(${where}, ${run}, () => (${shown}));`
      : `await $throws(${where}, ${run}, ${JSON.stringify(shown)});`;
  });
  return lines.join("\n");
}

/** Returns a program that runs one block. */
export function programOf(page: string, block: Block): string {
  return `${checks}${checked(page, block)}\n`;
}

/** Returns one program that runs all blocks; all can use the variables of the first block. */
export function programsOf(page: string, [first, ...others]: readonly Block[]): string {
  assert.ok(first, `${page} has programs`);
  const imports: string[] = [];
  const bodyOf = (block: Block) =>
    checked(page, block).replace(/^import .*$/gm, (line) => {
      imports.push(line);
      return "";
    });
  const bodies = [bodyOf(first), ...others.map((block) => `{\n${bodyOf(block)}\n}`)];
  return `${checks}${imports.join("\n")}\n${bodies.join("\n")}\n`;
}

/** Returns a script that runs the block given by the header x-block, with its own env.BUCKET. */
export function scriptOf(page: string, blocks: readonly Block[]): string {
  const cases = blocks.map(
    (block, i) => `case "${i}": await (async () => {\n${checked(page, block)}\n})(); break;`,
  );
  return `${checks}
export default {
  async fetch(request, { ...env }, ctx) {
    const number = request.headers.get("x-block");
    env.BUCKET = env["BUCKET_" + number];
    try {
      switch (number) {
${cases.join("\n")}
      }
      return new Response("as shown");
    } catch (error) {
      return new Response(error.stack);
    }
  },
};
`;
}

/** The name of the bucket that one block uses. */
export function bucketName(block: number): string {
  return `bucket-${block}`;
}

export function scriptConfigOf(blocks: readonly Block[]): string {
  const buckets = blocks.map((_, i) => ({ binding: `BUCKET_${i}`, bucket_name: bucketName(i) }));
  return JSON.stringify({
    name: "blocks",
    main: "index.js",
    compatibility_date: "2026-11-01",
    store_buckets: buckets,
    vars: { GREETING: "hello" },
  });
}
