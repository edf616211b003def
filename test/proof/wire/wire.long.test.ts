// Runs the wire proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { wire } from "./wire.ts";

test("a server answers hostile bytes with an HTTP response or closes the connection, and keeps serving", (t) =>
  runQuickShare(t, wire, 1500, 6));
