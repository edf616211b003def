// `store encryption` and `store bucket encryption`, with a rotation that is killed again and again.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { collect, sampleBytes } from "../../support/bytes.ts";
import { openShellWithBucket } from "../store.ts";

interface Status {
  readonly mode: string;
  readonly unencrypted: number;
  readonly withStoreKey: number;
  readonly masterKeys: readonly { id: string; isCurrent: boolean; retired: string | null; objects: number }[];
  readonly rotation: { to: string } | null;
}

test("a bucket's encryption is turned on, existing objects are encrypted, and the key is rotated", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "a.txt"), "plain text");
  const status = async () => JSON.parse(await shell.store("encryption", "status", "--json")) as Status;
  await shell.store("object", "put", "photos/before", "a.txt");
  assert.equal(await shell.store("bucket", "encryption", "photos"), "Encryption of bucket photos is off.\n");
  assert.equal(
    await shell.store("bucket", "encryption", "photos", "on"),
    "Encryption of bucket photos is on.\n",
  );
  await shell.store("object", "put", "photos/after", "a.txt");
  assert.deepEqual((({ unencrypted, withStoreKey }) => [unencrypted, withStoreKey])(await status()), [1, 1]);
  assert.equal(await shell.store("encryption", "apply", "--bucket", "photos"), "Encrypted 1 version of 2.\n");
  const [first] = (await status()).masterKeys;
  assert.match(
    await shell.store("encryption", "rotate"),
    /^Sealed 2 data keys with the new master key [0-9a-f]{16}\.\n$/,
  );
  const { masterKeys, rotation } = await status();
  assert.deepEqual(
    masterKeys.map(({ isCurrent, objects }) => [isCurrent, objects]),
    [
      [false, 0],
      [true, 2],
    ],
  );
  assert.deepEqual([masterKeys[0]!.id, rotation], [first!.id, null]);
  for (const key of ["before", "after"]) {
    assert.equal(await shell.store("object", "get", `photos/${key}`, "-"), "plain text");
  }
  assert.match(await shell.store("verify"), /No damage found/);
  assert.match(await shell.store("encryption", "status"), /retired/);
  assert.match(await shell.store("audit"), /rotate master key/);
  await shell.store("bucket", "encryption", "photos", "off");
  assert.match(await shell.fails(2, ["bucket", "encryption", "photos", "maybe"]), /on or off/);
});

test("encryption = always in the configuration or the environment encrypts every new object", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "a.txt"), "plain text");
  const environment = { STORE_ENCRYPTION: "always" };
  const put = await shell.run(["object", "put", "photos/a", "a.txt"], { environment });
  assert.equal(put.code, 0, put.stderr);
  await writeFile(join(shell.directory, "store.toml"), 'name = "x"\nencryption = "always"\n');
  await shell.store("object", "put", "photos/b", "a.txt");
  const { withStoreKey, unencrypted, mode } = JSON.parse(
    await shell.store("encryption", "status", "--json"),
  ) as Status;
  assert.deepEqual([withStoreKey, unencrypted, mode], [2, 0, "always"]);
  await writeFile(join(shell.directory, "store.toml"), 'encryption = "sometimes"\n');
  assert.match(await shell.fails(1, ["bucket", "list"]), /"encryption" must be "always"/);
  const wrong = await shell.run(["bucket", "list", "--data", ".store"], {
    environment: { STORE_ENCRYPTION: "no" },
  });
  assert.equal(wrong.code, 2);
});

test("a store whose secret key is missing or wrong says what to do", async (t) => {
  const shell = await openShellWithBucket(t);
  await writeFile(join(shell.directory, "a.txt"), "plain text");
  await shell.store("bucket", "encryption", "photos", "on");
  await shell.store("object", "put", "photos/a", "a.txt");
  const environment = { STORE_SECRET_KEY: "ab".repeat(32) };
  const get = await shell.run(["object", "get", "photos/a", "-"], { environment });
  assert.equal(get.code, 1);
  assert.match(get.stderr, /sealed with another secret key.*secret\.key/s);
  assert.equal(await shell.store("object", "get", "photos/a", "-"), "plain text");
});

test("a rotation that is killed ten times under load leaves every object readable", async (t) => {
  const shell = await openShellWithBucket(t);
  const location = join(shell.directory, ".store");
  const { engine } = await openEngine(location, { encryption: "always" });
  t.after(() => engine.close());
  const keys = Array.from({ length: 3000 }, (_, i) => `key-${i}`);
  for (let i = 0; i < keys.length; i += 100) {
    await Promise.all(keys.slice(i, i + 100).map((key) => engine.put("photos", key, sampleBytes(50))));
  }
  let isDone = false;
  let writes = 0;
  const load = (async () => {
    for (; !isDone; writes++) {
      const key = keys[(writes * 7919) % keys.length]!;
      if (writes % 2 === 0) await engine.put("photos", key, sampleBytes(50));
      else assert.ok((await engine.get("photos", key)).outcome === "found");
    }
  })();
  for (let kill = 0; kill < 10; kill++) {
    const child = shell.start(["encryption", "rotate"]);
    const exited = once(child, "exit");
    await new Promise((resolve) => setTimeout(resolve, 400 + kill * 60));
    child.kill("SIGKILL");
    await exited;
  }
  const last = await shell.run(["encryption", "rotate"]);
  assert.equal(last.code, 0, last.stderr);
  isDone = true;
  await load;
  for (const key of keys) {
    const got = await engine.get("photos", key);
    assert.ok(got.outcome === "found", key);
    assert.deepEqual(await collect(got.bytes.chunks()), sampleBytes(50));
  }
  assert.deepEqual((await engine.verify()).damages, []);
  assert.equal((await engine.encryption.status()).rotation, undefined);
});
