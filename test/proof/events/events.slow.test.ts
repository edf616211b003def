// The share of the proof of events that every run of the tests makes.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { events } from "./events.ts";

test("of acknowledged writes none stays untold, whenever the server is killed", (t) =>
  runQuickShare(t, events, 150));
