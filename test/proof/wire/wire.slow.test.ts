// The share of the wire proof that `npm run test:slow` runs.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { wire } from "./wire.ts";

test("hostile bytes on a connection get an HTTP response or a close, and the servers keep serving", (t) =>
  runQuickShare(t, wire, 5000, 6));
