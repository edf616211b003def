// Runs the leaks proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { leaks } from "./leaks.ts";

test("uploads that are cut off leave no stored bytes, files or open descriptors", (t) =>
  runQuickShare(t, leaks, 400));
