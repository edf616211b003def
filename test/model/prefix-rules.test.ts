import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findLock, type LockRule } from "../../src/model/lock.ts";
import { outermostPrefixes, rulesForKey } from "../../src/model/prefix-rules.ts";
import { findExpiry, type LifecycleRule } from "../../src/model/settings/lifecycle.ts";
import { type NotificationRule, rulesFor } from "../../src/model/settings/notification.ts";

const texts = fc.string({ unit: fc.constantFrom("a", "b", "\u{ffff}", "\u{1f600}"), maxLength: 6 });

test("the rules for a key are those with a prefix of the key, in the order of the list", () => {
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 30 }), texts, (prefixes, key) => {
      const rules = prefixes.map((prefix, id) => ({ id, prefix }));
      assert.deepEqual(
        rulesForKey(rules, key),
        rules.filter(({ prefix }) => key.startsWith(prefix)),
      );
    }),
  );
});

test("the outermost prefixes cover all rules, and none begins with another", () => {
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 30 }), (prefixes) => {
      const found = outermostPrefixes(prefixes.map((prefix) => ({ prefix })));
      const expected = [...new Set(prefixes)].filter(
        (one) => !prefixes.some((other) => other !== one && one.startsWith(other)),
      );
      assert.deepEqual(new Set(found), new Set(expected));
      assert.equal(found.length, expected.length);
    }),
  );
});

const ruleCount = 1000;
const keys = Array.from({ length: 1000 }, (_, i) => `${"a".repeat(1000)}${i}`);

/** Makes rules whose prefixes almost equal the keys, and counts how often a prefix is read. */
function countedRules<Rule extends object>(rule: Rule) {
  const counted = { reads: 0 };
  const rules = Array.from({ length: ruleCount }, (_, i) => ({
    ...rule,
    id: String(i),
    get prefix() {
      counted.reads++;
      return `${"a".repeat(999)}b${i}`;
    },
  }));
  return { counted, rules };
}

test("1,000 keys are not compared with the prefix of each of 1,000 lock, lifecycle or notification rules", () => {
  const locks = countedRules({ isEnabled: true, condition: { kind: "indefinite" } as const });
  for (const key of keys)
    assert.equal(findLock({ key, uploaded: 0 }, locks.rules satisfies LockRule[], 1), undefined);
  const lifecycle = countedRules({ isEnabled: true, expire: { days: 1 } });
  for (const key of keys)
    assert.equal(
      findExpiry(lifecycle.rules satisfies LifecycleRule[], { key, uploaded: 0, size: 1 }),
      undefined,
    );
  const target = { kind: "script", name: "script" } as const;
  const events = countedRules({ events: ["s3:ObjectCreated:*"], suffix: "", target });
  for (const key of keys)
    assert.deepEqual(rulesFor(events.rules satisfies NotificationRule[], "s3:ObjectCreated:Put", key), []);
  for (const { counted } of [locks, lifecycle, events]) assert.ok(counted.reads <= 2 * ruleCount);
});
