// The share of the linearizable proof that `npm run test:slow` runs.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { linearizable } from "./linearizable.ts";

test("operations of clients in several processes on one bucket are linearizable", (t) =>
  runQuickShare(t, linearizable, 40_000));
