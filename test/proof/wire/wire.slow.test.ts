// A quick share of the proof on the wire.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { wire } from "./wire.ts";

test("hostile bytes on the wire are answered in HTTP or cut, and the servers go on", (t) =>
  runQuickShare(t, wire, 5000, 6));
