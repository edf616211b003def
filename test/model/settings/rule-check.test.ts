// Validation of rules for a bucket: each error is reported with its rule and field.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LockRule } from "../../../src/model/lock.ts";
import type { CorsRule } from "../../../src/model/settings/cors.ts";
import type { LifecycleRule } from "../../../src/model/settings/lifecycle.ts";
import {
  corsFlaws,
  lifecycleFlaws,
  lockRuleFlaws,
  type RuleFlaw,
} from "../../../src/model/settings/rule-check.ts";

const places = (flaws: readonly RuleFlaw[]) =>
  flaws.map(({ rule, field, kind }) => `${rule ?? "all"} ${field ?? "-"} ${kind}`);

test("every error in lifecycle rules is reported, and valid rules have none", () => {
  const right: LifecycleRule = { id: "a", isEnabled: true, prefix: "", expire: { days: 1 } };
  const date = Date.UTC(2027, 0, 31);
  assert.deepEqual(lifecycleFlaws([]), []);
  assert.deepEqual(lifecycleFlaws([right, { ...right, id: "b", expire: { date }, largerThan: 0 }]), []);
  const cases: readonly [Partial<LifecycleRule>, string][] = [
    [{ id: "a" }, "1 id argument"],
    [{ id: "x".repeat(256) }, "1 id argument"],
    [{ expire: undefined }, "1 - request"],
    [{ expire: { days: 0 } }, "1 expire argument"],
    [{ expire: { days: Number.NaN } }, "1 expire malformed"],
    [{ expire: { days: 1.5 } }, "1 expire malformed"],
    [{ expire: { date: Number.NaN } }, "1 expire malformed"],
    [{ expire: { date: date + 1 } }, "1 expire argument"],
    [{ transition: { days: -1 } }, "1 transition argument"],
    [{ abortUploadsAfter: Number.NaN }, "1 abortUploadsAfter malformed"],
    [{ largerThan: -1 }, "1 largerThan malformed"],
    [{ largerThan: 10, smallerThan: 11 }, "1 smallerThan request"],
  ];
  for (const [change, wanted] of cases) {
    assert.deepEqual(places(lifecycleFlaws([right, { ...right, id: "b", ...change }])), [wanted]);
  }
  const many = Array.from({ length: 1001 }, (_, i) => ({ ...right, id: String(i) }));
  assert.deepEqual(places(lifecycleFlaws(many)), ["all - malformed"]);
});

test("every error in CORS rules is reported, and valid rules have none", () => {
  const right: CorsRule = {
    origins: ["https://*.example.com"],
    methods: ["GET"],
    headers: ["*"],
    exposed: [],
  };
  assert.deepEqual(corsFlaws([right, { ...right, maxAgeSeconds: 0 }]), []);
  const cases: readonly [Partial<CorsRule>, string][] = [
    [{ origins: [] }, "0 origins malformed"],
    [{ methods: [] }, "0 methods malformed"],
    [{ methods: ["PATCH"] }, "0 methods request"],
    [{ origins: ["*.*"] }, "0 origins request"],
    [{ headers: ["**"] }, "0 headers request"],
    [{ exposed: ["a\nb"] }, "0 exposed malformed"],
    [{ maxAgeSeconds: Number.NaN }, "0 maxAgeSeconds malformed"],
  ];
  for (const [change, wanted] of cases) {
    assert.deepEqual(places(corsFlaws([{ ...right, ...change }])), [wanted]);
  }
});

test("every error in lock rules is reported, and valid rules have none", () => {
  const right: LockRule = {
    ...{ id: "a", isEnabled: true, prefix: "" },
    condition: { kind: "age", seconds: 1 },
  };
  const date = Date.UTC(2027, 0, 31);
  assert.deepEqual(lockRuleFlaws([right, { ...right, id: "b", condition: { kind: "date", date } }]), []);
  assert.deepEqual(lockRuleFlaws([{ ...right, condition: { kind: "indefinite" } }]), []);
  const cases: readonly [Partial<LockRule>, string][] = [
    [{ id: "a" }, "1 id argument"],
    [{ id: "x".repeat(256) }, "1 id argument"],
    [{ condition: { kind: "age", seconds: 0 } }, "1 condition malformed"],
    [{ condition: { kind: "age", seconds: Number.NaN } }, "1 condition malformed"],
    [{ condition: { kind: "date", date: Number.NaN } }, "1 condition malformed"],
  ];
  for (const [change, wanted] of cases) {
    assert.deepEqual(places(lockRuleFlaws([right, { ...right, id: "b", ...change }])), [wanted]);
  }
});

test("too many rules are refused without a look at any of them", () => {
  const forbidden = new Proxy({} as never, {
    get: (_, name) => assert.fail(`reads ${String(name)} of a rule`),
  });
  for (const [find, max] of [
    [lifecycleFlaws, 1000],
    [corsFlaws, 100],
    [lockRuleFlaws, 1000],
  ] as const) {
    assert.deepEqual(places(find(Array.from({ length: max + 1 }, () => forbidden))), ["all - malformed"]);
  }
});

test("the name of each rule is read a few times, however many rules there are", () => {
  for (const find of [lifecycleFlaws, lockRuleFlaws] as const) {
    let reads = 0;
    const rule = (i: number) => ({
      get id() {
        reads++;
        return String(i % 500);
      },
      ...{ isEnabled: true, prefix: "", expire: { days: 1 }, condition: { kind: "indefinite" } as const },
    });
    const flaws = find(Array.from({ length: 1000 }, (_, i) => rule(i)));
    assert.equal(flaws.length, 500, "every second use of a name is an error");
    assert.ok(reads <= 3000, `${reads} reads`);
  }
});

test("values and prefixes that would make every request slow are errors", () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}`);
  const cors: CorsRule = { origins: ["*"], methods: ["GET"], headers: names(100), exposed: names(100) };
  assert.deepEqual(corsFlaws([cors]), []);
  assert.deepEqual(places(corsFlaws([{ ...cors, headers: names(101) }])), ["0 headers request"]);
  assert.deepEqual(places(corsFlaws([{ ...cors, methods: Array.from({ length: 101 }, () => "GET") }])), [
    "0 methods request",
  ]);
  assert.deepEqual(places(corsFlaws(Array.from({ length: 10 }, () => cors))), ["all - request"]);
  const prefix = "é".repeat(513);
  const lifecycle: LifecycleRule = { id: "a", isEnabled: true, prefix, expire: { days: 1 } };
  assert.deepEqual(places(lifecycleFlaws([lifecycle])), ["0 prefix argument"]);
  const lock: LockRule = { id: "a", isEnabled: true, prefix, condition: { kind: "indefinite" } };
  assert.deepEqual(places(lockRuleFlaws([lock])), ["0 prefix argument"]);
  const tags = names(11).map((name) => [name, ""] as const);
  assert.deepEqual(places(lifecycleFlaws([{ ...lifecycle, prefix: "", tags }])), ["0 tags argument"]);
});

test("thousands of transitions of one rule have as many errors as ten", () => {
  const rule: LifecycleRule = { id: "a", isEnabled: true, prefix: "", expire: { days: 1 } };
  const named = Array.from({ length: 10_000 }, () => ({ days: 0, keep: 0 }));
  for (const name of ["namedTransitions", "namedNoncurrent"] as const) {
    const flaws = lifecycleFlaws([{ ...rule, [name]: named }]);
    assert.ok(flaws.length >= 11 && flaws.length <= 30, `${name}: ${flaws.length} errors`);
  }
});
