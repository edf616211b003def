// Runs the contracts of the two ports on one pair of implementations.
import type { PortPair } from "../support/ports.ts";
import { blobsContract } from "./blobs.ts";
import { recordsContract } from "./records.ts";

export function portsContract(pair: PortPair): void {
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
