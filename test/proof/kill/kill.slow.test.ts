// Runs the kill proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { killPlain } from "./kill.ts";

test("after kill -9 at any moment, every acknowledged write is stored and no orphaned data is left", (t) => {
  t.diagnostic("NOT TESTED: kills of a versioned bucket, see kill.ts. Run: npm run test:soak -- --only kill");
  return runQuickShare(t, killPlain, 25);
});
