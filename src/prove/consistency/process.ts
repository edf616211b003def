// The program of a worker that opens the store itself.
import { openStore } from "../../open.ts";
import { bindingTarget } from "./target.ts";
import { serveRounds } from "./worker.ts";

serveRounds(async ({ directory, buckets }) => {
  const store = await openStore(directory);
  return new Map(buckets.map((bucket) => [bucket, bindingTarget(store.bucket(bucket))]));
});
