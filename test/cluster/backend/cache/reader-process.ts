// A process that reads blobs at random through a shared body cache until its parent sends a message,
// and reports wrong bytes. Every byte of a blob is its number.
import { createCachedBackend } from "../../../../src/cluster/backend/cache/cached-backend.ts";
import { openBlobBackend } from "../../../../src/cluster/open-backend.ts";
import { collect } from "../../../support/bytes.ts";
import type { ReaderOrder } from "./processes.slow.test.ts";

const { url, directory, size, folders, blobs } = JSON.parse(process.argv[2]!) as ReaderOrder;
const cached = createCachedBackend(await openBlobBackend(url), { directory, size, folders });
let isOver = false;
process.once("message", () => {
  isOver = true;
});
let reads = 0;
while (!isOver) {
  const number = Math.floor(Math.random() * blobs.length);
  const blob = blobs[number]!;
  const bytes = await collect(cached.read(blob, { offset: 0, length: blob.size }));
  const isRight = bytes.equals(Buffer.alloc(blob.size, number));
  if (!isRight) process.send?.({ kind: "wrong", number });
  if (++reads % 20 === 0) process.send?.({ kind: "read", reads });
}
await cached.close();
// Not by the parent: a report to a closed channel is an error.
process.disconnect?.();
