// The contracts of the two ports on every implementation of them.
import { blobsContract } from "./contracts/blobs.ts";
import { recordsContract } from "./contracts/records.ts";
import { guestPair, portPairs } from "./support/ports.ts";

recordsContract(guestPair.name, (t) => guestPair.open(t));

for (const pair of portPairs) {
  recordsContract(pair.name, (t) => pair.open(t));
  blobsContract(pair.name, async (t) => {
    const { records, blobs } = await pair.open(t);
    return {
      blobs,
      async createBucket(name) {
        await records.createBucket({ name, created: 0, storageClass: "Standard", account: "default" });
      },
    };
  });
}
