// Runs the proof of backups to an S3 service with the small budget of `npm run test:slow`.
import { test } from "node:test";
import { runQuickShare } from "../proof.ts";
import { backupS3 } from "./backup-s3.ts";

test("backups to an S3 service that are killed under load restore every acknowledged write", (t) =>
  runQuickShare(t, backupS3, 1));
