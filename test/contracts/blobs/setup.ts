// Helpers that the tests of the blobs contract share.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { BlobReader, Blobs, StagedBlob, StoredBlob } from "../../../src/engine/blobs.ts";
import { inChunks, toArray } from "../../support/bytes.ts";

export interface OpenedBlobs {
  readonly blobs: Blobs;
  /** Creates a bucket; blobs can only be written to an existing bucket. */
  createBucket(name: string): Promise<void>;
}

/** A Blobs implementation that tests share; each test uses its own bucket. */
export interface SharedBlobs extends OpenedBlobs {
  newBucket(): Promise<BucketOfBlobs>;
}

/** A bucket with helpers to stage, open and list its blobs. */
export interface BucketOfBlobs {
  readonly bucket: string;
  stage(bytes: Uint8Array, chunkSize?: number): Promise<StagedBlob>;
  /** Opens existing blobs; the reader is closed after the test. */
  reading(...group: StoredBlob[]): Promise<BlobReader>;
  left(): Promise<string[]>;
}

export type Chapter = (t: TestContext, shared: SharedBlobs) => Promise<void>;

export const blockBytes = 65_536;
export const named = async () => true;
export const notNamed = async () => false;

export async function share(
  t: TestContext,
  open: (t: TestContext) => Promise<OpenedBlobs>,
): Promise<SharedBlobs> {
  const readers: BlobReader[] = [];
  // Registered before Blobs is opened, so that readers are closed before Blobs is closed.
  t.after(() => Promise.all(readers.map((reader) => reader.close())));
  const { blobs, createBucket } = await open(t);
  let buckets = 0;
  return {
    blobs,
    createBucket,
    async newBucket() {
      const bucket = `bucket-${++buckets}`;
      await createBucket(bucket);
      return {
        bucket,
        async stage(bytes, chunkSize = 1000) {
          const staged = await blobs.stage(bucket, inChunks(bytes, chunkSize));
          staged.keep();
          return staged;
        },
        async reading(...group) {
          const reader = await blobs.open(bucket, group, named);
          assert(reader !== undefined, "the blobs exist");
          readers.push(reader);
          return reader;
        },
        left: async () => (await toArray(blobs.all(bucket))).sort(),
      };
    },
  };
}
