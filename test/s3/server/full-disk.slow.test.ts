// The S3 API on a full disk: puts are refused with 507, reads and deletes continue, and the space
// that deletes free is available for the next put.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../script/inside.ts";
import { scriptScene } from "../../script/scene.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { mountSmallDisk } from "../../support/disk/small-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { type RawAnswer, sendRaw, signRaw } from "../raw.ts";
import type { Key } from "../scene.ts";

const MiB = 1024 * 1024;
const source = `export default { fetch: () => new Response("here") };`;

test("with a full disk, S3 puts get 507, and reads and deletes continue and free space", async (t) => {
  const disk = mountSmallDisk(await temporaryDirectory(t));
  try {
    if (!disk.isSmall) return t.skip("this machine does not allow mounting a small disk");
    const scene = await scriptScene(t, source);
    const data = join(disk.directory, "store");
    mkdirSync(data);
    symlinkSync(data, join(scene.directory, ".store"));
    const server = await scene.start("dev");
    const s3 = server.announced.s3 as { url: string } & Key;
    const call = (method: string, name: string, body?: Uint8Array, query: [string, string][] = []) => {
      const raw = { method, path: `/bucket/${name}`, query, ...(body === undefined ? {} : { body }) };
      return sendRaw(s3.url, signRaw(s3.url, raw, { key: s3, form: "header" }));
    };
    const large = sampleBytes(MiB);
    for (let i = 0; i < 12; i++) assert.equal((await call("PUT", `kept-${i}`, large)).status, 200);
    const begun = await call("POST", "parts", undefined, [["uploads", ""]]);
    const uploadId = /<UploadId>([^<]+)</.exec(begun.text)![1]!;

    disk.fill(0);
    assertFull(await call("PUT", "large", large), "a large object");
    assertFull(await putUntilRefused((n) => call("PUT", `small-${n}`, sampleBytes(3000))), "a small object");
    const part: [string, string][] = [
      ["partNumber", "1"],
      ["uploadId", uploadId],
    ];
    assertFull(await call("PUT", "parts", large, part), "a part");
    assert.equal((await call("HEAD", "large")).status, 404, "a refused put stores nothing");
    for (const name of ["kept-0", "kept-11"]) {
      const { status, headers } = await call("GET", name);
      assert.deepEqual([status, headers["content-length"]], [200, String(MiB)], name);
    }

    for (let i = 0; i < 11; i++) assert.equal((await call("DELETE", `kept-${i}`)).status, 204, `kept-${i}`);
    assert.equal((await call("DELETE", "parts", undefined, [["uploadId", uploadId]])).status, 204);
    // The bytes are removed after the response to the delete.
    await until(
      async () => (await call("PUT", "after", large)).status === 200,
      "a put succeeds after the deletes freed space",
    );
    assert.equal((await call("GET", "after")).headers["content-length"], String(MiB));
    const verified = await scene.shell.run(["verify", "--data", data, "--json"]);
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    await server.end();
  } finally {
    disk.remove();
  }
});

async function putUntilRefused(put: (n: number) => Promise<RawAnswer>): Promise<RawAnswer> {
  for (let n = 0; ; n++) {
    const answer = await put(n);
    if (answer.status !== 200) return answer;
  }
}

function assertFull({ status, code, text }: RawAnswer, what: string): void {
  assert.deepEqual([status, code], [507, "InsufficientStorage"], `${what}: ${text}`);
}
