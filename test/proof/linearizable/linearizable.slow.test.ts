// Runs the linearizable proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { linearizable } from "./linearizable.ts";

test("operations of clients in several processes on one bucket are linearizable", (t) =>
  runQuickShare(t, linearizable, 40_000));
