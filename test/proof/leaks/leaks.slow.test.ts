// The share of the leaks proof that `npm run test:slow` runs.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { leaks } from "./leaks.ts";

test("uploads cut off in the middle leave no bytes, files or descriptors", (t) =>
  runQuickShare(t, leaks, 400));
