// Runs the disk proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { disk } from "./disk.ts";

test("a failing or full disk loses no acknowledged write and is reported with clear errors", (t) =>
  runQuickShare(t, disk, 40));
