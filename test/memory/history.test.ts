// A read of one version in memory costs the same however many versions its key has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { appendVersion, findObjectAt, findVersion, type VersionedObjects } from "../../src/memory/history.ts";
import { SortedMap } from "../../src/memory/sorted-map.ts";
import type { ObjectRecord } from "../../src/model/object.ts";
import { inline, objectRecord } from "../support/samples.ts";

test("reads of the null version, of a missing version and of a time look at few versions of a key", () => {
  const versions: VersionedObjects = { objects: new SortedMap(), history: new SortedMap() };
  let looks = 0;
  for (let i = 0; i < 4000; i++) {
    const record = objectRecord("key", { version: `v${i}`, uploaded: 1000 + i, isVersioned: true });
    const observed = new Proxy<ObjectRecord>(record, {
      get(target, name) {
        looks++;
        return target[name as keyof ObjectRecord];
      },
    });
    appendVersion(versions, observed, inline("x"));
  }
  const reads = [
    () => findVersion(versions, "key", "null"),
    () => findVersion(versions, "key", "missing"),
    () => findObjectAt(versions, "key", 999),
  ];
  for (const read of reads) assert.equal(read(), undefined);
  assert.equal(findVersion(versions, "key", "v17")?.version.uploaded, 1017);
  assert.equal(findObjectAt(versions, "key", 2500)?.record.version, "v1500");
  looks = 0;
  for (let i = 0; i < 1000; i++) for (const read of reads) read();
  assert.ok(looks < 3 * 1000 * 10, `${looks} looks at versions`);
});
