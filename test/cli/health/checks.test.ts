// Checks of `store doctor`, with the values of other machines.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { checkCertificate } from "../../../src/cli/health/check-certificates.ts";
import { checkOffset } from "../../../src/cli/health/check-clock.ts";
import {
  checkDisk,
  checkFileClock,
  checkFileSystem,
  checkInodes,
  checkSpace,
  checkSync,
} from "../../../src/cli/health/check-disk.ts";
import { checkNode, checkOpenFiles, checkVersions } from "../../../src/cli/health/check-machine.ts";
import { checkPorts, reachableUrl } from "../../../src/cli/health/check-ports.ts";
import { checkBackup, checkSchema } from "../../../src/cli/health/check-store.ts";
import type { Finding } from "../../../src/cli/health/finding.ts";
import type { ServerRecord } from "../../../src/servers/server-record.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const gibibyte = 2 ** 30;
const disk = { type: 0xef53, freeBytes: 0, totalBytes: 1000 * gibibyte, freeFiles: 0, totalFiles: 1000 };
const server: ServerRecord = {
  ...{ host: hostname(), pid: 1, version: "1.0.0", node: "22.0.0", mode: "serve", started: 0, seen: 0 },
  ...{ ports: [], scripts: [], messages: [] },
};
const day = 24 * 3600 * 1000;

test("each check distinguishes what is in order from warnings and problems, with a cure", () => {
  const now = Date.now();
  const cases: readonly (readonly [Finding, Finding["state"], RegExp])[] = [
    [checkNode("22.1.0", "20.19"), "ok", /22\.1\.0/],
    [checkNode("20.19.0", "20.19"), "ok", /20\.19/],
    [checkNode("20.18.3", "20.19"), "problem", /too old/],
    [checkVersions([server], "1.0.0"), "ok", /1\.0\.0/],
    [checkVersions([server], "1.1.0"), "warning", /running servers are 1\.0\.0/],
    [checkOpenFiles("Max open files            1024  524288  files"), "warning", /only 1024/],
    [checkOpenFiles("Max open files            unlimited  x  files"), "ok", /unlimited/],
    [checkOpenFiles(""), "ok", /does not report/],
    [checkSpace({ ...disk, freeBytes: 500 * gibibyte }), "ok", /500\.0 GiB/],
    [checkSpace({ ...disk, freeBytes: 10 * gibibyte }), "warning", /Only 10\.0 GiB/],
    [checkSpace({ ...disk, freeBytes: 0.5 * gibibyte }), "problem", /Only/],
    [checkInodes({ ...disk, freeFiles: 500 }), "ok", /500 of 1000/],
    [checkInodes({ ...disk, freeFiles: 20 }), "warning", /Only 20/],
    [checkInodes({ ...disk, freeFiles: 2 }), "problem", /Only 2/],
    [checkInodes({ ...disk, totalFiles: 0 }), "ok", /as needed/],
    [checkFileSystem(disk), "ok", /ext4/],
    [checkFileSystem({ type: 0x01021994 }), "problem", /tmpfs/],
    [checkFileSystem({ type: 0x6969 }), "warning", /NFS/],
    [checkFileSystem({ type: -0x00acb2be }), "warning", /CIFS/],
    [checkFileSystem({ type: 0x794c7630 }), "warning", /overlay/],
    [checkFileSystem({ type: 1 }), "ok", /not known/],
    [checkSync({ milliseconds: 2 }), "ok", /2\.0 ms/],
    [checkSync({ milliseconds: 0.004 }), "warning", /faster than a disk/],
    [checkSync({ milliseconds: 300 }), "warning", /300\.0 ms/],
    [checkFileClock({ clockOffset: -10 }), "ok", /agrees/],
    [checkFileClock({ clockOffset: 60_000 }), "warning", /60 s/],
    [checkOffset("db", 100), "ok", /agrees with db/],
    [checkOffset("db", -10_000), "warning", /differs by -10 s/],
    [checkOffset("db", 600_000), "problem", /600 s/],
    [checkBackup(undefined, { objects: 0, isCluster: false, now }), "ok", /empty/],
    [checkBackup(undefined, { objects: 1, isCluster: false, now }), "warning", /No backup/],
    [checkBackup(undefined, { objects: 1, isCluster: true, now }), "ok", /cluster/],
    [checkBackup({ time: now - day, to: "/b" }, { objects: 1, isCluster: false, now }), "ok", /1 day old/],
    [
      checkBackup({ time: now - 9 * day, to: "/b" }, { objects: 1, isCluster: false, now }),
      "warning",
      /9 days/,
    ],
    [checkSchema("/d", { schema: 6, knownSchema: 6 }), "ok", /version 6/],
    [checkSchema("/d", { schema: 5, knownSchema: 6 }), "warning", /uses 6/],
    [checkSchema("/d", { schema: 7, knownSchema: 6 }), "problem", /knows 6/],
    [
      checkSchema({ records: "postgres://h/d", blobs: "file:///b" }, { schema: undefined, knownSchema: 6 }),
      "problem",
      /no tables/,
    ],
  ];
  for (const [finding, state, what] of cases) {
    assert.equal(finding.state, state, finding.what);
    assert.match(finding.what, what);
    assert.equal(finding.cure === undefined, state === "ok", finding.what);
  }
});

test("the disk of a directory is checked without leaving a file", async (t) => {
  const directory = await temporaryDirectory(t);
  const checks = checkDisk(directory).map(({ check }) => check);
  assert.deepEqual(checks, ["disk space", "inodes", "file system", "fsync", "clock"]);
  const missing = join(directory, "missing");
  assert.throws(() => checkDisk(missing), /ENOENT/);
});

test("a default port that another program uses is a warning with the option that changes it", async (t) => {
  const other = createServer();
  t.after(() => other.close());
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as { port: number };
  const [finding] = await checkPorts([], [[port, "s3", "s3-port"]]);
  assert.equal(finding?.state, "warning");
  assert.match(`${finding?.what} ${finding?.cure}`, new RegExp(`${port} \\(s3\\).*--s3-port PORT`));
});

test("a server that does not answer is a problem on this machine and a warning elsewhere", async () => {
  const ports = [{ name: "s3", url: "http://127.0.0.1:1" }];
  const [here, elsewhere] = await checkPorts([
    { ...server, ports },
    { ...server, host: "elsewhere", ports },
  ]);
  assert.equal(here?.state, "problem");
  assert.equal(elsewhere?.state, "warning");
  assert.match(here!.what, /does not answer on s3 http/);
});

test("a wildcard address is reached by loopback here and by its name elsewhere", () => {
  assert.equal(reachableUrl(server, "http://0.0.0.0:9000").origin, "http://127.0.0.1:9000");
  assert.equal(reachableUrl({ host: "node2" }, "http://0.0.0.0:9000").origin, "http://node2:9000");
});

test("a file that is not a certificate, and a missing one, are problems", async (t) => {
  const file = join(await temporaryDirectory(t), "cert.pem");
  assert.match(checkCertificate(file, Date.now()).what, /cannot be read: ENOENT/);
  await writeFile(file, "hello");
  assert.match(checkCertificate(file, Date.now()).what, /not a PEM certificate/);
});
