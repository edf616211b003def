// The share of the power cuts that every run of the tests makes.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { power } from "./power.ts";

test("power cuts on ext4 and XFS lose nothing that was acknowledged", (t) => runQuickShare(t, power, 10));
