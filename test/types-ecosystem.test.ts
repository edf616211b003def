// Compiles programs to check that StoreBucket and R2Bucket are assignable to each other, and that
// typed idioms of public scripts compile with both.
import { test } from "node:test";
import { compile, webOptions, workerOptions } from "./support/compile.ts";
import { idioms, idiomTypes } from "./support/idioms.ts";
import { project } from "./support/projects.ts";

const checks = `
type Fits<A, B> = [A] extends [B] ? true : false;
type Mutual<A, B> = Fits<A, B> extends true ? Fits<B, A> : false;
function holds<_Check extends true>(): void {}
function fails<_Check extends false>(): void {}
`;

const mutual = `import type * as store from "store-server";
${checks}
holds<Mutual<store.StoreBucket, R2Bucket>>();
holds<Mutual<store.StoreObject, R2Object>>();
holds<Mutual<store.StoreObjectBody, R2ObjectBody>>();
holds<Mutual<store.StoreObjects, R2Objects>>();
holds<Mutual<store.StoreMultipartUpload, R2MultipartUpload>>();
holds<Mutual<store.StoreUploadedPart, R2UploadedPart>>();
holds<Mutual<store.StoreChecksums, R2Checksums>>();
holds<Mutual<store.StoreStringChecksums, R2StringChecksums>>();
holds<Mutual<store.StoreHTTPMetadata, R2HTTPMetadata>>();
holds<Mutual<store.StoreRange, R2Range>>();
holds<Fits<store.StorePresigningBucket, R2Bucket>>();

// Options: a bucket of this package accepts all options of R2's methods.
holds<Fits<R2Conditional, store.StoreConditional>>();
holds<Fits<R2GetOptions, store.StoreGetOptions>>();
holds<Fits<R2PutOptions, store.StorePutOptions>>();
holds<Fits<R2MultipartOptions, store.StoreMultipartOptions>>();
holds<Fits<R2UploadPartOptions, store.StoreMultipartOptions>>();
holds<Fits<R2ListOptions, store.StoreListOptions>>();

// Not the other way round, because the contract accepts more: binding.md, Arguments: "Dates: a Date
// or a number of milliseconds".
fails<Fits<store.StoreConditional, R2Conditional>>();
fails<Fits<number, R2Conditional["uploadedBefore"]>>();
// binding.md, get: "{}/null → all"; Arguments: "SSE-C key: 64 hex digits (any case) or 32 bytes".
fails<Fits<store.StoreGetOptions, R2GetOptions>>();
fails<Fits<null, R2GetOptions["range"]>>();
fails<Fits<Uint8Array, R2GetOptions["ssecKey"]>>();
fails<Fits<store.StorePutOptions, R2PutOptions>>();
fails<Fits<store.StoreMultipartOptions, R2MultipartOptions>>();
// spec 2.12, StoreListOptions: include is Array<string>.
fails<Fits<store.StoreListOptions, R2ListOptions>>();
fails<Fits<string[], R2ListOptions["include"]>>();
// A bucket of this store makes presigned URLs, and R2Bucket has no such method.
fails<Fits<R2Bucket, store.StorePresigningBucket>>();

async function takesR2(bucket: R2Bucket): Promise<R2Objects> {
  return bucket.list({ include: ["httpMetadata"] });
}
async function takesStore(bucket: store.StoreBucket): Promise<store.StoreObjects> {
  return bucket.list({ include: ["httpMetadata"] });
}
declare const ours: store.StorePresigningBucket;
declare const theirs: R2Bucket;
export const pages = [takesR2(ours), takesStore(theirs), takesR2(theirs), takesStore(ours)];
`;

test("StoreBucket and R2Bucket, and the types of their results, are assignable to each other", async (t) => {
  const opened = await project(t);
  await opened.write("src/index.ts", mutual);
  await compile(opened, workerOptions);
  await compile(opened, { ...workerOptions, exactOptionalPropertyTypes: true });
  await compile(opened, { ...workerOptions, types: [...workerOptions.types, "node"] });
});

test("typed idioms of public scripts compile with R2Bucket and accept a StoreBucket", async (t) => {
  const opened = await project(t);
  await opened.write("src/index.ts", idioms);
  await compile(opened, workerOptions);
});

test("typed idioms of public scripts compile with only the types of this package", async (t) => {
  const opened = await project(t);
  await opened.write("src/index.ts", idioms);
  await opened.write("src/names.d.ts", idiomTypes);
  await compile(opened, webOptions);
  await compile(opened, { ...webOptions, lib: ["es2023"], types: ["node"] });
});
