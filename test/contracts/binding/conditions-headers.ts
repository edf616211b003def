// Tests "get" of binding.md: conditions as Headers, evaluated in the order of RFC 9110 13.2.2.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Implementation } from "../../support/stores.ts";
import { etag, getHolds, otherEtag, putHolds, uploaded } from "./conditions.ts";
import { furnish, openBucket, textOf } from "./scene.ts";
import { fixedClock } from "./shared-stores.ts";

export function headerConditionsContract(implementation: Implementation): void {
  describe("conditions can be given as HTTP headers", () => {
    const httpDate = (time: number) => new Date(time).toUTCString();
    /** Etag lists, and whether each matches the object by strong and by weak comparison. */
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

    test("every combination of the four conditional headers follows the order of RFC 9110 13.2.2", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
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
              // Only dates[1] is before the upload: the object was modified since then.
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

    test("put accepts conditional headers in onlyIf, as get does", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
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

    test("a repeated conditional header is treated as one list", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
      await bucket.put("key", "value");
      const headers = new Headers();
      headers.append("if-none-match", `"${otherEtag}"`);
      headers.append("if-none-match", `"${etag}"`);
      assert.equal(await getHolds(bucket, headers), false);
    });

    test("dates of conditional headers are compared in whole seconds", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
      await bucket.put("key", "value");
      // HTTP dates have no milliseconds, so the half second of the upload time is ignored.
      assert.equal(await getHolds(bucket, new Headers({ "if-unmodified-since": httpDate(uploaded) })), true);
      assert.equal(await getHolds(bucket, new Headers({ "if-modified-since": httpDate(uploaded) })), false);
    });

    test("all three date formats of HTTP are accepted", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
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

    test("dates in conditional headers that cannot be parsed are ignored", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
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

    test("an etag list that cannot be parsed is refused with a TypeError that names the header", async (t) => {
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

    test("If-Range and all headers that are not conditions are ignored", async (t) => {
      const { bucket } = await openBucket(t, implementation, fixedClock);
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

    test("put with If-None-Match: * stores only if the key does not exist", async (t) => {
      const { bucket } = await openBucket(t, implementation);
      const onlyIf = new Headers({ "If-None-Match": "*" });
      assert.ok(await bucket.put("key", "first", { onlyIf }));
      assert.equal(await bucket.put("key", "second", { onlyIf }), null);
      assert.equal(await textOf(bucket, "key"), "first");
    });
  });
}
