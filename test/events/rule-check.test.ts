import assert from "node:assert/strict";
import { test } from "node:test";
import { checkRules, NotificationError } from "../../src/events/rule-check.ts";
import { limits } from "../../src/model/limits.ts";

const target = { kind: "script", name: "script" } as const;
const rule = { id: "rule", events: ["s3:ObjectCreated:*"], prefix: "", suffix: "", target };

test("a notification rule with a prefix or suffix that is longer than any key is refused", () => {
  const longest = "é".repeat(limits.keyBytes / 2);
  checkRules([{ ...rule, prefix: longest, suffix: longest }]);
  for (const part of ["prefix", "suffix"])
    assert.throws(() => checkRules([{ ...rule, [part]: `${longest}x` }]), NotificationError, part);
});
