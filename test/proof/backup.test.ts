// The share of the backup proof that `npm test` runs.
import { test } from "node:test";
import { backup } from "./backup.ts";
import { runQuickShare } from "./proof.ts";

test("backups of a store under load come back as they must", (t) => runQuickShare(t, backup, 3));
