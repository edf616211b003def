// binding.md, get: conditions as an object and as Headers, in the order of RFC 9110 13.2.2, on get and put.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StoreBucket, StoreConditional } from "../../../src/index.ts";
import type { Implementation } from "../../support/stores.ts";
import { digest, furnish, openBucket, textOf } from "./scene.ts";

/** In the middle of a second, so that whole seconds and milliseconds differ. */
const uploaded = Date.parse("2024-05-06T07:08:09.500Z");
const etag = digest("md5", "value");
const otherEtag = digest("md5", "other");
const clock = { now: () => uploaded };

type OnlyIf = StoreConditional | Headers;

async function getHolds(bucket: StoreBucket, onlyIf: OnlyIf): Promise<boolean> {
  const object = await bucket.get("key", { onlyIf });
  assert.ok(object);
  assert.equal(object.etag, etag);
  if ("body" in object) await object.body.cancel();
  return "body" in object;
}

async function putHolds(bucket: StoreBucket, key: string, onlyIf: OnlyIf): Promise<boolean> {
  const stored = await bucket.put(key, "value", { onlyIf });
  return stored !== null;
}

export function conditionsContract(implementation: Implementation): void {
  describe("conditions as an object", () => {
    test("every combination, on get and on put over an object", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
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

    test("a missing object on put: refused only when etagMatches or uploadedAfter is set", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
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

    test("a Date is as good as its milliseconds", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
      await bucket.put("key", "value");
      assert.equal(await getHolds(bucket, { uploadedBefore: new Date(uploaded + 1) }), true);
      assert.equal(await getHolds(bucket, { uploadedBefore: new Date(uploaded) }), false);
      assert.equal(await getHolds(bucket, { uploadedAfter: new Date(uploaded - 1) }), true);
      assert.equal(await getHolds(bucket, { uploadedAfter: new Date(uploaded) }), false);
    });

    test("secondsGranularity compares dates as whole seconds", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
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

    test("a quoted etag is a TypeError, on get and on put", async (t) => {
      const scene = await furnish(t, implementation);
      const { httpEtag } = (await scene.bucket.head("kept"))!;
      for (const quoted of [httpEtag, `W/${httpEtag}`, '""', '"*"']) {
        for (const onlyIf of [{ etagMatches: quoted }, { etagDoesNotMatch: quoted }]) {
          await scene.refusesArgument({}, () => scene.bucket.get("kept", { onlyIf }));
          await scene.refusesArgument({}, () => scene.bucket.put("kept", "value", { onlyIf }));
        }
      }
    });

    test("an etag is compared as it stands: another case, a part of it or a list is another etag", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
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

    test("no condition at all holds", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
      await bucket.put("key", "value");
      assert.equal(await getHolds(bucket, {}), true);
      assert.equal(await putHolds(bucket, "new", {}), true);
      const object = await bucket.get("key", { onlyIf: null });
      assert.equal(await object?.text(), "value");
    });

    test("onlyIf: {etagDoesNotMatch: '*'} is create-only", async (t) => {
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

  describe("conditions as Headers", () => {
    const httpDate = (time: number) => new Date(time).toUTCString();
    /** What a list of etags says of the object: strongly, and weakly. */
    const lists: readonly (readonly [header: string | undefined, strong: boolean, weak: boolean])[] = [
      [undefined, true, false],
      [`"${etag}"`, true, true],
      [`W/"${etag}"`, false, true],
      [`"${otherEtag}"`, false, false],
      [`"${otherEtag}", "${etag}"`, true, true],
      [`"a,b" ,W/"${etag}","c"`, false, true],
      ["*", true, true],
    ];
    const dates = [undefined, httpDate(uploaded - 1000), httpDate(uploaded), httpDate(uploaded + 1000)];

    test("every combination of the four headers, in the order of RFC 9110 13.2.2", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
      await bucket.put("key", "value");
      for (const [match, strong] of lists) {
        for (const [noneMatch, , weak] of lists) {
          for (const unmodifiedSince of dates) {
            for (const modifiedSince of dates) {
              const headers = new Headers();
              if (match !== undefined) headers.set("If-Match", match);
              if (noneMatch !== undefined) headers.set("If-None-Match", noneMatch);
              if (unmodifiedSince !== undefined) headers.set("If-Unmodified-Since", unmodifiedSince);
              if (modifiedSince !== undefined) headers.set("If-Modified-Since", modifiedSince);
              // If-Unmodified-Since holds at its own second, If-Modified-Since does not.
              const first = match !== undefined ? strong : unmodifiedSince !== dates[1];
              const second =
                noneMatch !== undefined ? !weak : modifiedSince === undefined || modifiedSince === dates[1];
              const asked = JSON.stringify([...headers]);
              assert.equal(await getHolds(bucket, headers), first && second, asked);
            }
          }
        }
      }
    });

    test("put takes them too", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
      await bucket.put("key", "value");
      for (const [list, strong, weak] of lists.slice(1)) {
        const headers = (name: string) => new Headers({ [name]: list ?? "" });
        assert.equal(await putHolds(bucket, "key", headers("if-match")), strong, list);
        assert.equal(await putHolds(bucket, "key", headers("if-none-match")), !weak, list);
        assert.equal(await putHolds(bucket, "missing", headers("if-match")), false, list);
        assert.equal(await putHolds(bucket, "missing", headers("if-none-match")), true, list);
        await bucket.delete("missing");
      }
      const [, earlier, same, later] = dates as [undefined, string, string, string];
      const table: readonly (readonly [name: string, date: string, holds: boolean, whenMissing: boolean])[] =
        [
          ["if-unmodified-since", earlier, false, true],
          ["if-unmodified-since", same, true, true],
          ["if-unmodified-since", later, true, true],
          ["if-modified-since", earlier, true, false],
          ["if-modified-since", same, false, false],
          ["if-modified-since", later, false, false],
        ];
      for (const [name, date, holds, whenMissing] of table) {
        assert.equal(await putHolds(bucket, "key", new Headers({ [name]: date })), holds, `${name}: ${date}`);
        assert.equal(await putHolds(bucket, "missing", new Headers({ [name]: date })), whenMissing);
        await bucket.delete("missing");
      }
    });

    test("a header given twice is one list", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
      await bucket.put("key", "value");
      const headers = new Headers();
      headers.append("if-none-match", `"${otherEtag}"`);
      headers.append("if-none-match", `"${etag}"`);
      assert.equal(await getHolds(bucket, headers), false);
    });

    test("dates are compared at second granularity", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
      await bucket.put("key", "value");
      // The header cannot say that the object came half a second later.
      assert.equal(await getHolds(bucket, new Headers({ "if-unmodified-since": httpDate(uploaded) })), true);
      assert.equal(await getHolds(bucket, new Headers({ "if-modified-since": httpDate(uploaded) })), false);
    });

    test("the three forms of a date are understood", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
      await bucket.put("key", "value");
      const after = [
        "Mon, 06 May 2024 07:08:10 GMT",
        "Monday, 06-May-24 07:08:10 GMT",
        "Mon May  6 07:08:10 2024",
      ];
      for (const date of after) {
        assert.equal(await getHolds(bucket, new Headers({ "if-modified-since": date })), false, date);
        assert.equal(await getHolds(bucket, new Headers({ "if-unmodified-since": date })), true, date);
      }
      const before = [
        "Mon, 06 May 2024 07:08:08 GMT",
        "Monday, 06-May-24 07:08:08 GMT",
        "Mon May  6 07:08:08 2024",
      ];
      for (const date of before) {
        assert.equal(await getHolds(bucket, new Headers({ "if-modified-since": date })), true, date);
        assert.equal(await getHolds(bucket, new Headers({ "if-unmodified-since": date })), false, date);
      }
    });

    test("unparsable dates are ignored", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
      await bucket.put("key", "value");
      for (const date of ["", "yesterday", "not a date", "Mon, 99 May 2024 07:08:09 GMT"]) {
        for (const name of ["if-modified-since", "if-unmodified-since"]) {
          assert.equal(await getHolds(bucket, new Headers({ [name]: date })), true, `${name}: ${date}`);
          assert.equal(
            await putHolds(bucket, "key", new Headers({ [name]: date })),
            true,
            `${name}: ${date}`,
          );
          assert.equal(await putHolds(bucket, "missing", new Headers({ [name]: date })), true);
          await bucket.delete("missing");
        }
      }
    });

    test("an unparsable etag list is a TypeError that names the header", async (t) => {
      const scene = await furnish(t, implementation);
      const wrong = [
        etag,
        `"${etag}`,
        `${etag}"`,
        `W/${etag}`,
        `"${etag}" "${etag}"`,
        `"${etag}", ${etag}`,
        "'a'",
      ];
      for (const list of wrong) {
        for (const header of ["if-match", "if-none-match"]) {
          const onlyIf = new Headers({ [header]: list });
          const message = new RegExp(`^Invalid ETag in ${header} header$`);
          await scene.refusesArgument({ message }, () => scene.bucket.get("kept", { onlyIf }));
          await scene.refusesArgument({ message }, () => scene.bucket.put("kept", "value", { onlyIf }));
        }
      }
    });

    test("If-Range and all headers that are no condition are ignored", async (t) => {
      const { bucket } = await openBucket(t, implementation, clock);
      await bucket.put("key", "value");
      for (const ifRange of [`"${etag}"`, `"${otherEtag}"`, httpDate(0), "neither etag nor date"]) {
        const headers = new Headers({ "If-Range": ifRange, Range: "bytes=42-", Accept: "a/b" });
        assert.equal(await getHolds(bucket, headers), true);
        const ranged = await bucket.get("key", { onlyIf: headers, range: { offset: 1, length: 2 } });
        assert.ok(ranged !== null && "body" in ranged);
        assert.equal(await ranged.text(), "al");
      }
      assert.equal(await getHolds(bucket, new Headers()), true);
      assert.equal(await putHolds(bucket, "missing", new Headers()), true);
    });

    test("If-None-Match: * is create-only", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const onlyIf = new Headers({ "If-None-Match": "*" });
      assert.ok(await bucket.put("key", "first", { onlyIf }));
      assert.equal(await bucket.put("key", "second", { onlyIf }), null);
      assert.equal(await textOf(bucket, "key"), "first");
    });
  });

  describe("conditions and commits", () => {
    const count = 100;
    for (const [what, body] of [
      ["small bodies", (i: number) => `writer ${i}`],
      ["bodies that stream", (i: number) => new Blob([`writer ${i}`, "-".repeat(10_000)]).stream()],
    ] as const) {
      test(`of ${count} concurrent create-only puts exactly one wins: ${what}`, async (t) => {
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

    test("of concurrent puts that replace the same etag exactly one wins, round after round", async (t) => {
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
