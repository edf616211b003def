// Tests "Versions, time and tags" of docs/binding.md: retention and legal holds.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../../support/stores.ts";
import { day, rejectsArgument, rejectsWith, textOf } from "../scene.ts";
import { lockable, versionedBuckets } from "./setup.ts";

export function locksContract(implementation: Implementation): void {
  describe("scripts lock versions", () => {
    const create = versionedBuckets(implementation);

    test("put and createMultipartUpload set retention and legal hold, which every result has", async () => {
      const { bucket, tick } = await create(lockable);
      const retention = { mode: "governance", until: new Date(tick().getTime() + day) } as const;
      const object = await bucket.put("a", "value", { retention, legalHold: true });
      for (const found of [
        object,
        await bucket.head("a"),
        await bucket.get("a"),
        (await bucket.list()).objects[0],
      ]) {
        assert.deepEqual(found?.retention, retention);
        assert.equal(found?.legalHold, true);
      }
      const upload = await bucket.createMultipartUpload("b", { retention });
      const completed = await upload.complete([await upload.uploadPart(1, "hello")]);
      assert.deepEqual(completed.retention, retention);
      assert.equal("legalHold" in completed, false);
      const plain = await bucket.put("c", "value", { retention: null, legalHold: false });
      assert.equal("retention" in plain, false);
      assert.equal("legalHold" in plain, false);
    });

    test("delete of a locked version is refused with AccessDenied, and the message names the lock", async () => {
      const { bucket, tick } = await create(lockable);
      const until = new Date(tick().getTime() + day);
      const { version } = await bucket.put("a", "one", { retention: { mode: "compliance", until } });
      const held = await bucket.put("a", "two", { legalHold: true });
      const refused = (message: string, version: string) =>
        rejectsWith({ code: 10003, action: "delete", message }, () => bucket.delete("a", { version }));
      await refused(`The object is locked by compliance retention until ${until.toISOString()}.`, version);
      await refused("The object is locked by a legal hold until it is removed.", held.version);
      await bucket.delete("a");
      assert.equal(await bucket.head("a"), null);
      assert.equal(await (await bucket.get("a", { version }))?.text(), "one");
    });

    test("setLegalHold sets and removes the hold of a version", async () => {
      const { bucket } = await create(lockable);
      const { version } = await bucket.put("a", "one");
      await bucket.put("a", "two");
      assert.equal((await bucket.setLegalHold("a", true, { version })).legalHold, true);
      assert.equal((await bucket.head("a"))?.legalHold, undefined);
      await rejectsWith({ code: 10003, action: "delete" }, () => bucket.delete("a", { version }));
      assert.equal("legalHold" in (await bucket.setLegalHold("a", false, { version })), false);
      await bucket.delete("a", { version });
      assert.equal(await bucket.head("a", { version }), null);
    });

    test("setRetention extends a retention and is refused to shorten it until it has ended", async () => {
      const { bucket, tick } = await create(lockable);
      const inSeconds = (seconds: number) => new Date(tick().getTime() + seconds * 1000);
      const action = "setRetention";
      await bucket.put("a", "one");
      const until = inSeconds(20);
      assert.deepEqual((await bucket.setRetention("a", { mode: "governance", until })).retention, {
        mode: "governance",
        until,
      });
      const longer = { mode: "governance", until: inSeconds(30) } as const;
      assert.deepEqual((await bucket.setRetention("a", longer)).retention, longer);
      await rejectsWith({ code: 10003, action }, () => bucket.setRetention("a", null));
      const shorter = { mode: "governance", until } as const;
      await rejectsWith({ code: 10003, action }, () => bucket.setRetention("a", shorter));
      await rejectsWith({ code: 10029, action }, () =>
        bucket.setRetention("a", { mode: "governance", until: new Date(0) }),
      );
      for (let seconds = 0; seconds < 40; seconds++) tick();
      assert.equal("retention" in (await bucket.setRetention("a", null)), false);
    });

    test("a bucket without Object Lock refuses locks with InvalidBucketState", async () => {
      const { bucket, tick } = await create();
      await bucket.put("a", "one");
      const retention = { mode: "governance", until: new Date(tick().getTime() + day) } as const;
      const code = 10061;
      await rejectsWith({ code, action: "put" }, () => bucket.put("a", "two", { retention }));
      await rejectsWith({ code, action: "put" }, () => bucket.put("a", "two", { legalHold: true }));
      await rejectsWith({ code, action: "setRetention" }, () => bucket.setRetention("a", retention));
      await rejectsWith({ code, action: "setLegalHold" }, () => bucket.setLegalHold("a", true));
      assert.equal(await textOf(bucket, "a"), "one");
    });

    test("wrong retentions and holds are refused with a TypeError", async () => {
      const { bucket, loose } = await create(lockable);
      await bucket.put("a", "one");
      const until = new Date();
      for (const retention of [
        "governance",
        1,
        {},
        { mode: "governance" },
        { mode: "Governance", until },
        { until },
        { mode: "compliance", until: until.getTime() },
        { mode: "compliance", until: until.toISOString() },
        { mode: "compliance", until: new Date(Number.NaN) },
      ]) {
        await rejectsArgument({}, () => loose.put("a", "two", { retention }));
        await rejectsArgument({}, () => loose.createMultipartUpload("a", { retention }));
        await rejectsArgument({}, () => loose.setRetention("a", retention));
      }
      for (const legalHold of ["on", 1, {}]) {
        await rejectsArgument({}, () => loose.put("a", "two", { legalHold }));
        await rejectsArgument({}, () => loose.setLegalHold("a", legalHold));
      }
      await rejectsArgument({}, () => loose.setRetention("a"));
      await rejectsArgument({}, () => loose.setLegalHold("a"));
      await rejectsArgument({}, () => loose.setLegalHold("a", null));
      await rejectsArgument({}, () => loose.setLegalHold("a", true, { version: 1 }));
      assert.equal(await textOf(bucket, "a"), "one");
    });
  });
}
