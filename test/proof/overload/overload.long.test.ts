// Runs the overload proof for `npm run test:long`: every phase, at a smaller scale.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { createOverload, phases } from "./overload.ts";
import { shortScale } from "./phase.ts";

test("a server under overload recovers within a second and loses no acknowledged write", (t) =>
  runQuickShare(t, createOverload(shortScale), phases.length, 40));
