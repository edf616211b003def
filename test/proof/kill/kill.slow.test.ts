// Runs the kill proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { kill } from "./kill.ts";

test("after kill -9 at any moment, every acknowledged write is stored and no orphaned data is left", (t) =>
  runQuickShare(t, kill, 25));
