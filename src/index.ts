// What a program that embeds Store imports.

export { FixedLengthStream } from "./binding/fixed-length-stream.ts";
export { StoreError } from "./model/errors.ts";
export { type BucketInfo, type BucketOptions, type OpenOptions, openStore, type Store } from "./open.ts";
export type * from "./types.ts";
