// The second Store process on the cluster: executes the orders that it receives as messages.
import { openStore } from "../../src/index.ts";
import type { ClusterPlace } from "./open-cluster.ts";

export type Order =
  | { readonly do: "put"; readonly key: string; readonly text: string; readonly isNew?: boolean }
  | { readonly do: "get" | "delete"; readonly key: string }
  | { readonly do: "list" | "createBucket" | "deleteBucket" }
  | {
      readonly do: "complete";
      readonly key: string;
      readonly uploadId: string;
      readonly etags: readonly string[];
    };

const { place, name } = JSON.parse(process.argv[2]!) as { place: ClusterPlace; name: string };
const store = await openStore({ ...place, reads: "strict" });
const bucket = store.bucket(name);

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case "put": {
      const onlyIf = order.isNew ? { onlyIf: { etagDoesNotMatch: "*" } } : {};
      return (await bucket.put(order.key, order.text, onlyIf)) !== null;
    }
    case "get":
      return (await (await bucket.get(order.key))?.text()) ?? null;
    case "delete":
      return bucket.delete(order.key);
    case "list":
      return (await bucket.list()).objects.map(({ key }) => key);
    case "createBucket":
      return (await store.createBucket(name)).name;
    case "deleteBucket":
      return store.deleteBucket(name);
    case "complete": {
      const parts = order.etags.map((etag, i) => ({ partNumber: i + 1, etag }));
      return (await bucket.resumeMultipartUpload(order.key, order.uploadId).complete(parts)).size;
    }
  }
}

process.on("message", (order: Order) => {
  obey(order).then(
    (answer) => process.send!({ answer: answer ?? null }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
process.once("disconnect", () => process.exit());
process.send!("ready");
