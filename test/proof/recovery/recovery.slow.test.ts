// The share of the recovery proof that `npm run test:slow` runs: a smaller bucket, no time limit.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { recoveryOf } from "./recovery.ts";

test("a store with a large bucket, killed under load, opens again with every acknowledged write", (t) =>
  runQuickShare(t, recoveryOf(20_000), 3));
