// `store verify`: reports damage by message and exit code.
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { blobFiles } from "../../support/disk/on-disk.ts";
import { openShell } from "../store.ts";

test("verify reports no damage for an intact store, and names every damaged object otherwise", async (t) => {
  const shell = await openShell(t);
  const location = join(shell.directory, ".store");
  const { engine } = await openEngine(location);
  await engine.createBucket("photos");
  await engine.put("photos", "small", sampleBytes(10));
  await engine.put("photos", "a/flipped", sampleBytes(200_000));
  await engine.close();
  const [flipped] = blobFiles(location);
  const noScrub = "No background scrub has finished yet; store serve runs one every seven days.\n";
  assert.equal(
    await shell.store("verify"),
    `Read 1 bucket, 2 objects, 200010 bytes. No damage found.\n${noScrub}`,
  );
  assert.deepEqual(JSON.parse(await shell.store("verify", "--json")), {
    buckets: 1,
    objects: 2,
    bytes: 200_010,
    damages: [],
    lastScrub: null,
  });

  const bytes = await readFile(flipped!.path);
  bytes[100_000]! ^= 1;
  await writeFile(flipped!.path, bytes);
  const again = await openEngine(location);
  await again.engine.put("photos", "b/missing", sampleBytes(100_000));
  assert.equal(await again.engine.scrub({ onDamage: () => {}, bytesPerSecond: 1e9 }), "ended");
  await again.engine.close();
  await rm(blobFiles(location).find(({ id }) => id !== flipped!.id)!.path);

  const told = await shell.run(["verify"]);
  assert.equal(told.code, 1);
  assert.match(told.stdout, /^photos\/a\/flipped\t.*damaged/m);
  assert.match(told.stdout, /^photos\/b\/missing\t\S/m);
  assert.match(told.stdout, /Found 2 damaged items\.\n/);
  assert.doesNotMatch(told.stdout, /photos\/small/);
  assert.match(told.stdout, /^The last background scrub ended 20\S+Z and found 1 damaged item\.$/m);
  const json = await shell.run(["verify", "--json"]);
  assert.equal(json.code, 1);
  const { damages, lastScrub } = JSON.parse(json.stdout) as {
    damages: { bucket: string; key: string; what: string }[];
    lastScrub: { ended: string; objects: number; bytes: number; damages: number };
  };
  assert.deepEqual(Object.keys(lastScrub), ["ended", "objects", "bytes", "damages"]);
  assert.equal(lastScrub.damages, 1);
  assert.deepEqual(
    damages.map(({ bucket, key }) => `${bucket}/${key}`),
    ["photos/a/flipped", "photos/b/missing"],
  );
});
