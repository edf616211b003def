// The share of the bit rot proof that `npm run test:slow` runs.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { rot } from "./rot.ts";

test("a harmful bit flip anywhere in a store is reported as damage", (t) => runQuickShare(t, rot, 400));
