// Runs the work proof for `npm run test:long`: every load, for a short time each.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { createWork, shortWork, workUnits } from "./work.ts";

test("every port answers while callers with few rights repeat the requests that cost most", (t) =>
  runQuickShare(t, createWork(shortWork), workUnits, 60));
