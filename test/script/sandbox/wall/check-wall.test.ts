import assert from "node:assert/strict";
import { chmod, copyFile, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { checkWall, countsThreadsByNamespace } from "../../../../src/script/sandbox/wall/check-wall.ts";

const skip = process.platform === "linux" ? false : "the wall exists on Linux only";

test("a missing program is named with the Debian package that has it", { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "store-check-wall-"));
  t.after(() => rm(folder, { recursive: true }));
  const check = () => checkWall({ environment: { PATH: folder }, workerd: process.execPath });
  const expected = "bwrap is not installed. On Debian and Ubuntu: apt install bubblewrap";
  assert.deepEqual(await check(), { kind: "missing", what: expected });
  await symlink(process.execPath, join(folder, "bwrap"));
  assert.match(JSON.stringify(await check()), /prlimit is not installed.*apt install util-linux/);
});

test("a wall that does not start is missing, with the errors and a way out", { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "store-check-wall-"));
  t.after(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  for (const name of ["bwrap", "prlimit"]) await symlink("/bin/false", join(folder, name));
  const check = await checkWall({ environment: { PATH: folder }, workerd: "/bin/true" });
  assert.equal(check.kind, "missing");
  assert.match(JSON.stringify(check), /bubblewrap cannot start workerd.*exit code 1.*user namespaces/);
});

test("a workerd that the unprivileged user cannot read is missing, with the folder", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root runs sandboxes as another user");
  const folder = await mkdtemp(join(tmpdir(), "store-check-wall-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "bin"));
  const workerd = join(folder, "bin", "workerd");
  await copyFile("/bin/true", workerd);
  for (const name of ["bwrap", "prlimit"]) await symlink("/bin/true", join(folder, name));
  const check = async () => JSON.stringify(await checkWall({ environment: { PATH: folder }, workerd }));
  assert.ok((await check()).includes(`may not read \\"${folder}\\"`), await check());
  await chmod(folder, 0o755);
  await chmod(workerd, 0o700);
  assert.ok((await check()).includes(`may not read \\"${workerd}\\"`), await check());
  await chmod(workerd, 0o755);
  assert.match(await check(), /"kind":"ready"/);
});

test("the environment may lack PATH", { skip }, async () => {
  const check = await checkWall({ environment: {}, workerd: process.execPath });
  assert.equal(check.kind, "missing");
});

test("threads are limited since Linux 5.14", () => {
  const kernels = ["4.19.0-27-amd64", "5.10.0-33-amd64", "5.14.0-503.el9.x86_64", "6.1.0-37-amd64", "10.0"];
  assert.deepEqual(kernels.map(countsThreadsByNamespace), [false, false, true, true, true]);
  assert.equal(countsThreadsByNamespace("unknown"), false);
});

test("on systems other than Linux the wall is unsupported", async (t) => {
  if (process.platform === "linux") return t.skip("this is Linux");
  const check = await checkWall({ environment: process.env, workerd: process.execPath });
  assert.deepEqual(check, { kind: "unsupported" });
});
