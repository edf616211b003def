// The program of a worker whose clients use the S3 API.
import { serveRounds } from "../../../src/prove/consistency/worker.ts";
import type { S3WorkerTask } from "./linearizable.ts";
import { s3Target } from "./s3-target.ts";

serveRounds(
  async ({ buckets, s3 }: S3WorkerTask) => new Map(buckets.map((bucket) => [bucket, s3Target(s3, bucket)])),
);
