// Compatibility dates and flags that change a script's runtime.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runtimeBehaviour } from "../../../src/script/config/runtime-flags.ts";
import type { ConfigKind } from "../../../src/script/config/syntax/source.ts";

const node = { platform: "store", populatesProcessEnv: true, timers: "objects" };
const plain = { platform: "store", populatesProcessEnv: false, timers: "numbers" };

const cases: readonly [date: string, flags: readonly string[], expected: object][] = [
  ["2026-08-03", [], plain],
  ["2026-08-04", [], node],
  ["2026-08-04", ["no_nodejs_compat"], plain],
  ["2024-01-01", ["nodejs_compat"], node],
  ["2024-01-01", ["nodejs_compat_v2"], node],
  ["2024-01-01", ["nodejs_compat_populate_process_env"], { ...plain, populatesProcessEnv: true }],
  ["2024-01-01", ["enable_nodejs_global_timers"], { ...plain, timers: "objects" }],
  ["2026-11-01", ["nodejs_compat_do_not_populate_process_env"], { ...node, populatesProcessEnv: false }],
  ["2026-11-01", ["no_nodejs_global_timers"], { ...node, timers: "numbers" }],
];

for (const [compatibilityDate, compatibilityFlags, expected] of cases) {
  test(`compatibility date ${compatibilityDate} with ${compatibilityFlags.join(" and ") || "no flag"} sets the expected process.env and timer behaviour`, () => {
    assert.deepEqual(runtimeBehaviour({ kind: "store", compatibilityDate, compatibilityFlags }), expected);
  });
}

test("the runtime platform is workers for a wrangler file and store for a store file", () => {
  const behaviour = (kind: ConfigKind) =>
    runtimeBehaviour({ kind, compatibilityDate: "2026-11-01", compatibilityFlags: [] });
  assert.equal(behaviour("store").platform, "store");
  assert.equal(behaviour("wrangler").platform, "workers");
});
