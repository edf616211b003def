// A program that holds the lock of an audit log: `node audit-lock-holder.js FILE`. Appends an entry
// while it holds the lock, prints "held", and keeps the lock until a line arrives on its input.
import { once } from "node:events";
import { appendEntries, auditPaths } from "../../../src/local/disk/audit-append.ts";
import { withAuditLock } from "../../../src/local/disk/audit-lock.ts";

const paths = auditPaths(process.argv[2]!);
await withAuditLock(paths.lock, 10_000, async () => {
  const arrived = once(process.stdin, "data");
  process.stdout.write("held\n");
  await arrived;
  const time = new Date().toISOString();
  await appendEntries(paths, [{ time, act: "create key", subject: "holder", by: { face: "s3" } }]);
});
process.exit(0);
