// Runs the events proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { events } from "./events.ts";

test("every acknowledged write is delivered as an event, whenever the server is killed", (t) =>
  runQuickShare(t, events, 150));
