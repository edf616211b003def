// Keys that would be dangerous as file paths: each is stored byte for byte or refused, and no file
// outside the data directory changes.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { encodeText } from "../../src/http/sigv4.ts";
import { filesIn } from "../cli/store.ts";
import { encodeForm, postForm, signedFields } from "../s3/form.ts";
import { sendRaw, signRaw } from "../s3/raw.ts";
import { exchange, openTarget, type Target } from "./target.ts";

/** Part of every hostile key: a file name that contains it shows that a key was used as a path. */
const canary = `canary-${process.pid}-${Date.now()}`;

/** Hostile keys as they are written in a URL. */
const paths = [
  `..`,
  `.`,
  `../${canary}`,
  `../../../../../../../../tmp/${canary}`,
  `%2e%2e/%2e%2e/${canary}`,
  `%2e%2e%2f%2e%2e%2f${canary}`,
  `..%5c..%5c${canary}`,
  `a/../../../${canary}`,
  `./${canary}`,
  `//${canary}`,
  `/etc/${canary}`,
  `%2Ftmp%2F${canary}`,
  `${canary}/`,
  `${canary}//double`,
  `${canary}%00.txt`,
  `%00`,
  `${canary}%0d%0aSet-Cookie:%20a=1`,
  `${canary}%ef%bb%bf`,
  `CON`,
  `C:%5c${canary}`,
  `-rf%20${canary}`,
  `$(touch%20${canary})`,
  `%60touch%20${canary}%60`,
  `.store/${canary}`,
  `__proto__`,
  `constructor`,
  `${"k".repeat(1000)}`,
];
const refusedPaths = [
  "%ff%fe",
  `${canary}%c0%ae%c0%ae`,
  `${canary}%ed%a0%80`,
  "k".repeat(1025),
  "%c3%a9".repeat(513),
  "k".repeat(20_000),
];

/** Returns the files below the folder whose names contain the canary. */
function findStrayFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.includes("canary-") || name.includes("kkkkkkkk"),
  );
}

async function storeByS3({ url, key, call }: Target, path: string): Promise<void> {
  const target = `/bucket/${path}`;
  const body = Buffer.from(`content of ${path}`);
  // The signature covers the decoded key; the request sends the hostile path unchanged.
  const decoded = encodeText(decodeURIComponent(path)).replaceAll("%2F", "/");
  const signed = signRaw(url, { method: "PUT", path: `/bucket/${decoded}`, body }, { key, form: "header" });
  const { status, text } = await sendRaw(url, { ...signed, path: target });
  assert.equal(status, 200, `${path}: ${text}`);
  const got = await call({ method: "GET", path: `/bucket/${decoded}` });
  assert.deepEqual([got.status, got.text], [200, body.toString()], path);
}

test("a hostile key is stored byte for byte or refused, and never becomes a file path", async (t) => {
  const target = await openTarget(t);
  const { url, key, call, scene, data, ports } = target;
  const filesBesideData = async () =>
    Object.fromEntries(
      Object.entries(await filesIn(scene.directory)).filter(
        ([name]) => !/^(\.store|store-scripts)/.test(name),
      ),
    );
  const before = await filesBesideData();

  await t.test("S3 stores each hostile key byte for byte", async () => {
    for (const path of paths) await storeByS3(target, path);
    const { text } = await call({ method: "GET", path: "/bucket", query: [["encoding-type", "url"]] });
    assert.equal(
      text.match(/<Key>/g)?.length,
      new Set(paths.map((path) => decodeURIComponent(path))).size,
      "each path is a separate key",
    );
    assert.equal(
      (await call({ method: "GET", path: "/site/hello" })).text,
      "hello",
      "objects of another bucket are unchanged",
    );
  });
  await t.test("S3 refuses keys that are not UTF-8 or too long", async () => {
    for (const path of refusedPaths) {
      const { query } = signRaw(url, { method: "PUT", path: `/bucket/${path}` }, { key, form: "query" });
      const text = `PUT /bucket/${path}?${query.map(([a, b]) => `${a}=${encodeText(b)}`).join("&")} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx`;
      const { statuses } = await exchange(ports.s3, text);
      assert.ok(
        statuses.length === 1 && statuses[0]! >= 400 && statuses[0]! < 500,
        `${path.slice(0, 40)}: ${statuses}`,
      );
    }
  });
  await t.test(
    "scripts, the public port, forms, copies and deletes treat hostile keys as keys or refuse them",
    async () => {
      for (const path of paths) {
        const head = `HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
        const put = await exchange(ports.script, `PUT /${path} ${head}Content-Length: 1\r\n\r\nx`);
        assert.ok(put.statuses.length === 1 && put.statuses[0]! < 600, `${path}: ${put.statuses}`);
        const got = await exchange(ports.public, `GET /site/${path} ${head}\r\n`);
        assert.ok(
          got.statuses.length === 1 && got.statuses[0]! >= 400 && got.statuses[0]! < 500,
          `${path}: ${got.text}`,
        );
        const name = decodeURIComponent(path);
        const conditions = [
          ["starts-with", "$key", ""],
          ["starts-with", "$x-amz-meta-tag", ""],
        ];
        const fields = signedFields({ key, bucket: "bucket", conditions });
        const form = fields.map(([one, value]) => [one, one === "key" ? name : value] as const);
        const { status } = await postForm(url, "bucket", encodeForm(form));
        assert.ok(status === 204 || (status >= 400 && status < 500), `form ${path}: ${status}`);
        const headers = { "x-amz-copy-source": `/site/${path}` };
        const copied = await call({ method: "PUT", path: "/bucket/copied", headers });
        assert.ok(copied.status >= 400 && copied.status < 500, `copy ${path}: ${copied.status}`);
      }
      for (const source of ["/site/../bucket/there", "/../../etc/passwd", "..", "/", ""]) {
        const copied = await call({
          method: "PUT",
          path: "/bucket/copied",
          headers: { "x-amz-copy-source": source },
        });
        assert.ok(copied.status >= 400 && copied.status < 500, `copy ${source}: ${copied.status}`);
      }
      const names = ["../../../../etc/passwd", "..", "/", "\0"].map(
        (one) => `<Object><Key>${one.replace("\0", "&#0;")}</Key></Object>`,
      );
      const deleted = await call({
        method: "POST",
        path: "/bucket",
        query: [["delete", ""]],
        body: Buffer.from(`<Delete>${names.join("")}</Delete>`),
      });
      assert.ok(deleted.status < 500, deleted.text);
    },
  );
  await t.test("S3 refuses bucket names that are paths", async () => {
    for (const path of [
      "/..",
      "/%2e%2e",
      "/.",
      "/a%2fb",
      "/A_B",
      "/%00",
      "/..%2f..%2fx",
      `/${"b".repeat(64)}`,
      "/xn--a/../b",
    ]) {
      const { query } = signRaw(url, { method: "PUT", path }, { key, form: "query" });
      const text = `PUT ${path}?${query.map(([a, b]) => `${a}=${encodeText(b)}`).join("&")} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
      const { statuses } = await exchange(ports.s3, text);
      assert.ok(statuses.length === 1 && statuses[0]! >= 400 && statuses[0]! < 500, `${path}: ${statuses}`);
    }
  });
  await t.test("a bucket name followed by a NUL character does not match that bucket", async () => {
    for (const path of ["/site%00/hello", "/site%00x/hello"]) {
      const read = await call({ method: "GET", path });
      assert.ok(read.status === 400 || read.status === 404, `S3 ${path}: ${read.status}`);
      const copied = await call({
        method: "PUT",
        path: "/bucket/copied",
        headers: { "x-amz-copy-source": path },
      });
      assert.ok(copied.status === 400 || copied.status === 404, `copy of ${path}: ${copied.status}`);
      const head = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
      const { statuses } = await exchange(ports.public, `GET ${path} ${head}`);
      assert.ok(statuses[0] === 400 || statuses[0] === 404, `public ${path}: ${statuses}`);
    }
  });
  assert.deepEqual(findStrayFiles(scene.directory), [], "no key became a file name");
  for (const folder of [tmpdir(), dirname(data), "/", "/etc"]) {
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes(canary)),
      [],
      folder,
    );
  }
  assert.deepEqual(await filesBesideData(), before, "files beside the data directory are unchanged");
  assert.deepEqual(readdirSync(join(scene.directory)).includes(".store"), true);
  target.assertSameProcesses();
});
