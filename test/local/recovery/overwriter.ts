// A process that overwrites or deletes medium-sized bodies and is killed before it can clean up.
import { openStore } from "../../../src/index.ts";
import { sampleBytes } from "../../support/bytes.ts";

export interface OverwriterTask {
  readonly directory: string;
  readonly act: "overwrite" | "delete";
  readonly keys: readonly string[];
  readonly size: number;
}

const task = JSON.parse(process.argv[2]!) as OverwriterTask;
const store = await openStore(task.directory);
const bucket = store.bucket("bucket");
if (task.act === "overwrite") {
  for (let round = 0; round < 3; round++)
    await Promise.all(task.keys.map((key) => bucket.put(key, sampleBytes(task.size))));
} else {
  await bucket.delete([...task.keys]);
}
process.kill(process.pid, "SIGKILL");
