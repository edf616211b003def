// Runs the recovery proof for `npm run test:slow`: with a smaller bucket and no time limit.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { recoveryOf } from "./recovery.ts";

test("a store with a large bucket, killed under load, opens again with every acknowledged write", (t) =>
  runQuickShare(t, recoveryOf(20_000), 3));
