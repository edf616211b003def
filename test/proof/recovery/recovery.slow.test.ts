// The share of the proof of recovery that every run of the tests makes: a smaller bucket, and no clock.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { recoveryOf } from "./recovery.ts";

test("killed under load beside a large bucket, a store opens again with all that was acknowledged", (t) =>
  runQuickShare(t, recoveryOf(20_000), 3));
