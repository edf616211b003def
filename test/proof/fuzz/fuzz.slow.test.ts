// Runs the fuzz proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { fuzz } from "./fuzz.ts";

test("parsers and API calls answer hostile input in time, with a value or a clear error", (t) =>
  runQuickShare(t, fuzz, 3500, 10));
