// The contracts of the two ports on PostgreSQL and Ceph.
import { blobsContract } from "../../contracts/blobs.ts";
import { recordsContract } from "../../contracts/records.ts";
import { cluster } from "../cluster-pair.ts";

recordsContract(cluster.name, (t) => cluster.open(t));
blobsContract(cluster.name, async (t) => {
  const { records, blobs } = await cluster.open(t);
  return {
    blobs,
    async createBucket(name) {
      await records.createBucket({ name, created: 0, storageClass: "Standard", account: "default" });
    },
  };
});
