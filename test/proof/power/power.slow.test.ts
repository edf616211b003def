// Runs the power proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { power } from "./power.ts";

test("power cuts on ext4 and XFS lose no acknowledged write", (t) => runQuickShare(t, power, 10));
