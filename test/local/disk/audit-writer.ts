// A program that records audit entries: `node audit-writer.js FILE NAME COUNT`. Prints each number
// once its entry is durable. With COUNT 0 it goes on until it is killed.
import { createAuditFile } from "../../../src/local/disk/audit-file.ts";

const [, , file = "", name = "", count = "0"] = process.argv;
const log = createAuditFile(file);
const end = Number(count) || Number.POSITIVE_INFINITY;
for (let number = 1; number <= end; ) {
  const batch = Array.from({ length: Math.min(5, end - number + 1) }, () => number++);
  await Promise.all(
    batch.map((one) =>
      log.record({
        time: new Date().toISOString(),
        act: "create key",
        subject: `${name}-${one}`,
        by: { face: "s3" },
      }),
    ),
  );
  process.stdout.write(`${batch.join("\n")}\n`);
}
