// The share of the proof by kill -9 that every run of the tests makes.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { kill } from "./kill.ts";

test("after kill -9 at any instant every acknowledged write is there, and nothing else", (t) =>
  runQuickShare(t, kill, 25));
