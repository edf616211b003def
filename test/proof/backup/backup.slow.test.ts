// Runs the backup proof with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { backup } from "./backup.ts";

test("backups of a store under load restore every acknowledged write", (t) => runQuickShare(t, backup, 3));
