// The share of the proof of linearizability that every run of the tests makes.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { linearizable } from "./linearizable.ts";

test("what clients of several processes do to one bucket could have happened one after the other", (t) =>
  runQuickShare(t, linearizable, 40_000));
