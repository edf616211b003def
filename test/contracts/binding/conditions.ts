// Tests "get" of binding.md: conditions as an object, evaluated in the order of RFC 9110 13.2.2 and
// atomically with the commit.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket, StoreConditional } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { digest, furnish, openBucket, textOf } from "./scene.ts";
import { fixedClock, fixedTime } from "./shared-stores.ts";

export const uploaded = fixedTime;
export const etag = digest("md5", "value");
export const otherEtag = digest("md5", "other");

type OnlyIf = StoreConditional | Headers;

export async function getHolds(bucket: StoreBucket, onlyIf: OnlyIf): Promise<boolean> {
  const object = await bucket.get("key", { onlyIf });
  assert.ok(object);
  assert.equal(object.etag, etag);
  if ("body" in object) await object.body.cancel();
  return "body" in object;
}

export async function putHolds(bucket: StoreBucket, key: string, onlyIf: OnlyIf): Promise<boolean> {
  const stored = await bucket.put(key, "value", { onlyIf });
  return stored !== null;
}

export function conditionsContract(implementation: Implementation): void {
  describe("conditions can be given as an object", () => {
    test("get and put of an existing key evaluate every combination of conditions alike", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
      await bucket.put("key", "value");
      const etags = [undefined, etag, otherEtag, "*"];
      const dates = [undefined, uploaded - 1, uploaded, uploaded + 1];
      for (const etagMatches of etags) {
        for (const etagDoesNotMatch of etags) {
          for (const uploadedBefore of dates) {
            for (const uploadedAfter of dates) {
              const onlyIf = { etagMatches, etagDoesNotMatch, uploadedBefore, uploadedAfter };
              const first =
                etagMatches !== undefined
                  ? etagMatches !== otherEtag
                  : uploadedBefore === undefined || uploaded < uploadedBefore;
              const second =
                etagDoesNotMatch !== undefined
                  ? etagDoesNotMatch === otherEtag
                  : uploadedAfter === undefined || uploaded > uploadedAfter;
              assert.equal(await getHolds(bucket, onlyIf), first && second, JSON.stringify(onlyIf));
              assert.equal(await putHolds(bucket, "key", onlyIf), first && second, JSON.stringify(onlyIf));
            }
          }
        }
      }
    });

    test("a put to a missing key is refused only when etagMatches or uploadedAfter is set", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
      const etags = [undefined, etag, "*"];
      const dates = [undefined, uploaded - 1, uploaded + 1];
      for (const etagMatches of etags) {
        for (const etagDoesNotMatch of etags) {
          for (const uploadedBefore of dates) {
            for (const uploadedAfter of dates) {
              const onlyIf = { etagMatches, etagDoesNotMatch, uploadedBefore, uploadedAfter };
              const holds = etagMatches === undefined && uploadedAfter === undefined;
              assert.equal(await putHolds(bucket, "new", onlyIf), holds, JSON.stringify(onlyIf));
              assert.equal((await bucket.head("new")) !== null, holds);
              if (holds) await bucket.delete("new");
            }
          }
        }
      }
    });

    test("a date in a condition can be a Date or a number of milliseconds", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
      await bucket.put("key", "value");
      assert.equal(await getHolds(bucket, { uploadedBefore: new Date(uploaded + 1) }), true);
      assert.equal(await getHolds(bucket, { uploadedBefore: new Date(uploaded) }), false);
      assert.equal(await getHolds(bucket, { uploadedAfter: new Date(uploaded - 1) }), true);
      assert.equal(await getHolds(bucket, { uploadedAfter: new Date(uploaded) }), false);
    });

    test("secondsGranularity compares dates in whole seconds", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
      await bucket.put("key", "value");
      const second = uploaded - 500;
      const table: readonly (readonly [condition: StoreConditional, fine: boolean, coarse: boolean])[] = [
        [{ uploadedAfter: second }, true, false],
        [{ uploadedAfter: second - 1 }, true, true],
        [{ uploadedAfter: second + 999 }, false, false],
        [{ uploadedBefore: second + 999 }, true, false],
        [{ uploadedBefore: second + 1000 }, true, true],
        [{ uploadedBefore: second }, false, false],
      ];
      for (const [condition, fine, coarse] of table) {
        assert.equal(await getHolds(bucket, condition), fine);
        assert.equal(await getHolds(bucket, { ...condition, secondsGranularity: false }), fine);
        const inSeconds = { ...condition, secondsGranularity: true };
        assert.equal(await getHolds(bucket, inSeconds), coarse, JSON.stringify(condition));
        assert.equal(await putHolds(bucket, "key", inSeconds), coarse, JSON.stringify(condition));
      }
      assert.equal(await getHolds(bucket, { secondsGranularity: true }), true);
    });

    test("get and put refuse a quoted etag in a condition with a TypeError", async (t) => {
      const scene = await furnish(t, implementation);
      const { httpEtag } = (await scene.bucket.head("kept"))!;
      for (const quoted of [httpEtag, `W/${httpEtag}`, '""', '"*"']) {
        for (const onlyIf of [{ etagMatches: quoted }, { etagDoesNotMatch: quoted }]) {
          await scene.refusesArgument({}, () => scene.bucket.get("kept", { onlyIf }));
          await scene.refusesArgument({}, () => scene.bucket.put("kept", "value", { onlyIf }));
        }
      }
    });

    test("an etag matches only exactly, not in another case, as a prefix or in a list", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
      await bucket.put("key", "value");
      for (const other of [
        etag.toUpperCase(),
        etag.slice(1),
        `${etag}, ${otherEtag}`,
        `${etag},*`,
        ` ${etag}`,
      ]) {
        assert.equal(await getHolds(bucket, { etagMatches: other }), false);
        assert.equal(await getHolds(bucket, { etagDoesNotMatch: other }), true);
      }
    });

    test("get and put proceed if onlyIf is an empty object", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
      await bucket.put("key", "value");
      assert.equal(await getHolds(bucket, {}), true);
      assert.equal(await putHolds(bucket, "new", {}), true);
      const object = await bucket.get("key", { onlyIf: null });
      assert.equal(await object?.text(), "value");
    });

    test("put with onlyIf: {etagDoesNotMatch: '*'} stores only if the key does not exist", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const onlyIf = { etagDoesNotMatch: "*" };
      assert.ok(await bucket.put("key", "first", { onlyIf }));
      assert.equal(await bucket.put("key", "second", { onlyIf }), null);
      assert.equal(await textOf(bucket, "key"), "first");
      await bucket.delete("key");
      assert.ok(await bucket.put("key", "third", { onlyIf }));
      assert.equal(await textOf(bucket, "key"), "third");
    });
  });

  describe("a condition is evaluated atomically with the commit", () => {
    const count = 100;
    for (const [what, body] of [
      ["with small bodies", (i: number) => `writer ${i}`],
      ["with streams as bodies", (i: number) => new Blob([`writer ${i}`, "-".repeat(10_000)]).stream()],
    ] as const) {
      test(`exactly one of ${count} concurrent create-only puts ${what} succeeds`, async (t) => {
        const { bucket } = await openBucket(t, implementation);
        const onlyIf = { etagDoesNotMatch: "*" };
        const outcomes = await Promise.all(
          Array.from({ length: count }, (_, i) => bucket.put("key", body(i), { onlyIf })),
        );
        const winners = outcomes.flatMap((object, i) => (object === null ? [] : [i]));
        assert.equal(winners.length, 1);
        assert.match(await textOf(bucket, "key"), new RegExp(`^writer ${winners[0]}-*$`));
        assert.equal((await bucket.head("key"))?.version, outcomes[winners[0]!]?.version);
      });
    }

    test("exactly one of several concurrent puts conditional on the same etag succeeds", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      let current = await bucket.put("counter", "0");
      for (let round = 1; round <= 5; round++) {
        const onlyIf = { etagMatches: current.etag };
        const outcomes = await Promise.all(
          Array.from({ length: 10 }, (_, i) => bucket.put("counter", `${round}.${i}`, { onlyIf })),
        );
        const winners = outcomes.filter((object) => object !== null);
        assert.equal(winners.length, 1);
        current = winners[0]!;
        assert.equal((await bucket.head("counter"))?.version, current.version);
      }
    });
  });
}
