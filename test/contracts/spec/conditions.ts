// Spec 2.7: the four clauses of onlyIf as an object, for get and for put.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket, StoreConditional, StoreObject } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import {
  day,
  mustHead,
  sharedBucket,
  stoppedClock,
  textOf,
  unknownLength,
  utf8,
  wrongArgument,
} from "./support.ts";

type OnlyIf = StoreConditional | Headers;

interface Subject {
  readonly bucket: StoreBucket;
  readonly stored: StoreObject;
  /** Time when the object was uploaded, in milliseconds since the epoch. */
  readonly time: number;
}

/** Returns a function that puts a new object, uploaded a day before the store's current time. */
export function sharedSubject(implementation: Implementation): () => Promise<Subject> {
  const clock = stoppedClock();
  const open = sharedBucket(implementation, { now: clock.now });
  return async () => {
    const { bucket } = await open();
    const stored = await bucket.put("key", "value");
    clock.advance(day);
    return { bucket, stored, time: stored.uploaded.getTime() };
  };
}

/** Checks that get and put both proceed. */
export async function proceeds(subject: Subject, onlyIf: OnlyIf): Promise<void> {
  const { bucket, stored } = subject;
  const object = await bucket.get("key", { onlyIf });
  assert.ok(object !== null && "body" in object, "get proceeds");
  assert.equal(await object.text(), "value");
  assert.equal(object.version, stored.version);
  const put = await bucket.put("key", "value", { onlyIf });
  assert.ok(put !== null, "put proceeds");
  assert.notEqual(put.version, stored.version);
  assert.equal((await mustHead(bucket, "key")).version, put.version);
}

/** Checks that get returns no body, and that put returns null and stores nothing. */
export async function isRefused(subject: Subject, onlyIf: OnlyIf): Promise<void> {
  const { bucket, stored } = subject;
  const object = await bucket.get("key", { onlyIf });
  assert.ok(object !== null && !("body" in object), "get is refused");
  assert.equal(object.version, stored.version);
  assert.equal(await bucket.put("key", "other", { onlyIf }), null);
  assert.equal((await mustHead(bucket, "key")).version, stored.version);
  assert.equal(await textOf(bucket, "key"), "value");
}

export function conditionSentences(implementation: Implementation): void {
  describe("conditions behave as the spec states", () => {
    const storedObject = sharedSubject(implementation);

    test("spec 2.12: get with onlyIf returns the body only if the conditions hold", async () => {
      const { bucket, stored } = await storedObject();
      const held = await bucket.get("key", { onlyIf: { etagMatches: stored.etag } });
      assert.ok(held !== null && "body" in held);
      assert.equal(await held.text(), "value");
      const refusal = await bucket.get("key", { onlyIf: { etagMatches: "other" } });
      assert.ok(refusal !== null && !("body" in refusal));
    });

    test("spec 2.12: put with onlyIf stores the object only if the conditions hold", async () => {
      const { bucket, stored } = await storedObject();
      assert.equal(await bucket.put("key", "refused", { onlyIf: { etagMatches: "other" } }), null);
      assert.equal(await textOf(bucket, "key"), "value");
      assert.notEqual(await bucket.put("key", "stored", { onlyIf: { etagMatches: stored.etag } }), null);
      assert.equal(await textOf(bucket, "key"), "stored");
    });

    test("spec 2.7: with etagMatches the operation proceeds if the object's etag equals the string", async () => {
      const subject = await storedObject();
      await proceeds(subject, { etagMatches: subject.stored.etag });
    });

    test("spec 2.7: with etagMatches the operation does not proceed if the object's etag differs from the string", async () => {
      const subject = await storedObject();
      const { etag } = subject.stored;
      for (const other of ["", "other", etag.slice(1), etag.toUpperCase(), `${etag}-1`]) {
        await isRefused(subject, { etagMatches: other });
      }
    });

    test("spec 2.7: with etagDoesNotMatch the operation proceeds if the object's etag differs from the string", async () => {
      for (const other of ["", "other", "0".repeat(32)]) {
        await proceeds(await storedObject(), { etagDoesNotMatch: other });
      }
    });

    test("spec 2.7: with etagDoesNotMatch the operation does not proceed if the object's etag equals the string", async () => {
      const subject = await storedObject();
      await isRefused(subject, { etagDoesNotMatch: subject.stored.etag });
    });

    test("spec 2.7: with uploadedBefore the operation proceeds if the object was uploaded before the date", async () => {
      for (const later of [1, 1000, day]) {
        const subject = await storedObject();
        await proceeds(subject, { uploadedBefore: new Date(subject.time + later) });
      }
    });

    test("spec 2.7: with uploadedBefore the operation does not proceed if the object was uploaded at the date or after it", async () => {
      const subject = await storedObject();
      for (const earlier of [0, 1, day]) {
        await isRefused(subject, { uploadedBefore: new Date(subject.time - earlier) });
      }
    });

    test("spec 2.7: with uploadedAfter the operation proceeds if the object was uploaded after the date", async () => {
      for (const earlier of [1, 1000, day]) {
        const subject = await storedObject();
        await proceeds(subject, { uploadedAfter: new Date(subject.time - earlier) });
      }
    });

    test("spec 2.7: with uploadedAfter the operation does not proceed if the object was uploaded at the date or before it", async () => {
      const subject = await storedObject();
      for (const later of [0, 1, day]) {
        await isRefused(subject, { uploadedAfter: new Date(subject.time + later) });
      }
    });

    test("spec 2.7: every condition is optional; with an empty object the operation proceeds", async () => {
      await proceeds(await storedObject(), {});
      await proceeds(await storedObject(), new Headers());
      const { bucket } = await storedObject();
      for (const onlyIf of [null, undefined]) {
        const object = await bucket.get("key", { onlyIf });
        assert.equal(await object?.text(), "value");
        assert.notEqual(await bucket.put("key", "value", { onlyIf }), null);
      }
    });

    test("spec 2.7: with several conditions the operation proceeds only if all of them hold", async () => {
      const subject = await storedObject();
      const { etag } = subject.stored;
      const [before, after] = [new Date(subject.time - 1), new Date(subject.time + 1)];
      const refusals: StoreConditional[] = [
        { etagMatches: etag, etagDoesNotMatch: etag },
        { etagMatches: "other", etagDoesNotMatch: "other" },
        { uploadedAfter: before, uploadedBefore: before },
        { uploadedAfter: after, uploadedBefore: after },
        { etagMatches: etag, uploadedAfter: after },
        { etagDoesNotMatch: "other", uploadedBefore: before },
      ];
      for (const onlyIf of refusals) await isRefused(subject, onlyIf);
      await proceeds(subject, { uploadedAfter: before, uploadedBefore: after });
      const again = await storedObject();
      const all = {
        etagMatches: etag,
        etagDoesNotMatch: "other",
        uploadedAfter: before,
        uploadedBefore: after,
      };
      await proceeds(again, all);
    });

    test("spec 2.7: an etag condition takes precedence over the date condition, as in the RFC", async () => {
      const matching = await storedObject();
      await proceeds(matching, {
        etagMatches: matching.stored.etag,
        uploadedBefore: new Date(matching.time),
      });
      const differing = await storedObject();
      await proceeds(differing, { etagDoesNotMatch: "other", uploadedAfter: new Date(differing.time) });
    });

    test("spec 2.7: a quoted etag in a condition is refused as an invalid argument", async () => {
      const { bucket, stored } = await storedObject();
      for (const onlyIf of [{ etagMatches: stored.httpEtag }, { etagDoesNotMatch: stored.httpEtag }]) {
        await wrongArgument(bucket.get("key", { onlyIf }), TypeError);
        await wrongArgument(bucket.put("key", "other", { onlyIf }), TypeError);
      }
      assert.equal(await textOf(bucket, "key"), "value");
    });

    test("spec 2.7: a put to a missing key proceeds unless a condition requires an existing object", async () => {
      const { bucket } = await storedObject();
      const [past, future] = [new Date(0), new Date(Date.now() + day)];
      const needing: StoreConditional[] = [
        { etagMatches: "x" },
        { etagMatches: "*" },
        { uploadedAfter: past },
      ];
      for (const onlyIf of needing) {
        assert.equal(await bucket.put("new", "value", { onlyIf }), null);
        assert.equal(await bucket.head("new"), null);
      }
      const holding: StoreConditional[] = [{ etagDoesNotMatch: "x" }, { etagDoesNotMatch: "*" }];
      for (const onlyIf of [...holding, { uploadedBefore: future }, {}]) {
        assert.notEqual(await bucket.put("new", "value", { onlyIf }), null);
        await bucket.delete("new");
      }
    });

    test("spec 2.7: exactly one of several concurrent create-only puts proceeds", async () => {
      const { bucket } = await storedObject();
      for (let round = 0; round < 5; round++) {
        const results = await Promise.all(
          Array.from({ length: 12 }, (_, i) =>
            bucket.put(`key ${round}`, i % 2 === 0 ? `value ${i}` : unknownLength(utf8(`value ${i}`)), {
              onlyIf: { etagDoesNotMatch: "*" },
            }),
          ),
        );
        const winners = results.flatMap((result, i) =>
          result === null ? [] : [{ i, version: result.version }],
        );
        assert.equal(winners.length, 1);
        assert.equal(await textOf(bucket, `key ${round}`), `value ${winners[0]?.i}`);
        assert.equal((await mustHead(bucket, `key ${round}`)).version, winners[0]?.version);
      }
    });

    test("spec 2.7: exactly one of several concurrent puts conditional on the same version proceeds", async () => {
      const { bucket } = await storedObject();
      let { etag } = await bucket.put("key", "first");
      for (let round = 0; round < 5; round++) {
        const results = await Promise.all(
          Array.from({ length: 8 }, (_, i) =>
            bucket.put("key", `value ${round} ${i}`, { onlyIf: { etagMatches: etag } }),
          ),
        );
        const winners = results.filter((result) => result !== null);
        assert.equal(winners.length, 1);
        etag = (await mustHead(bucket, "key")).etag;
        assert.equal(winners[0]?.etag, etag);
      }
    });
  });
}
