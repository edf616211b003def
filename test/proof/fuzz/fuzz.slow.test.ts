// The share of the fuzz proof that `npm run test:slow` runs.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { fuzz } from "./fuzz.ts";

test("hostile inputs end in a value or in a clear error, and in time", (t) =>
  runQuickShare(t, fuzz, 3500, 10));
