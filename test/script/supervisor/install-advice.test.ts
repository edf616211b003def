// Installation advice in the message about a missing package.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { installAdvice } from "../../../src/script/supervisor/install-advice.ts";

test("a missing package that package.json lists is reported with the project's install command", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "store-test-"));
  t.after(() => rm(root, { recursive: true }));
  const folder = join(root, "apps", "worker");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"devDependencies":{"hono":"4"},"dependencies":null}');
  assert.equal(installAdvice("hono", folder), "It is in package.json but not installed. Run: npm install");
  assert.equal(installAdvice("zod", folder), "Is it installed? npm install zod");
  await writeFile(join(root, "package.json"), '{"dependencies":{"zod":"3"}}');
  await writeFile(join(root, "pnpm-lock.yaml"), "");
  assert.equal(
    installAdvice("zod", folder),
    `It is in package.json but not installed. Run in ${root}: pnpm install`,
  );
  await writeFile(join(folder, "package.json"), "not JSON");
  assert.equal(installAdvice("hono", folder), "Is it installed? npm install hono");
});
