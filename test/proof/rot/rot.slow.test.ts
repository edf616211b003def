// The share of the bit rot proof that `npm run test:slow` runs.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { rot } from "./rot.ts";

test("flipped bits anywhere in a store are reported as damage", (t) => runQuickShare(t, rot, 400));
