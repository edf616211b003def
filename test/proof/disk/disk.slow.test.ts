// The share of the disk proof that `npm run test:slow` runs.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { disk } from "./disk.ts";

test("a failing or full disk loses no acknowledged write and is reported with clear errors", (t) =>
  runQuickShare(t, disk, 40));
