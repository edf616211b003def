// The share of the power proof that `npm run test:slow` runs.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { power } from "./power.ts";

test("power cuts on ext4 and XFS lose no acknowledged write", (t) => runQuickShare(t, power, 10));
