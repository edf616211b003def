// Runs the bit rot proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { rot } from "../../../src/prove/rot/rot.ts";
import { runQuickShare } from "../proof.ts";

test("a harmful bit flip anywhere in a store is reported as damage", (t) => runQuickShare(t, rot, 400));
