// What a program that embeds Store imports.

export type { BucketOptions } from "./binding/bind.ts";
export { FixedLengthStream } from "./binding/fixed-length-stream.ts";
export type * from "./kv-types.ts";
export { StoreError } from "./model/errors.ts";
export type { ClusterLocation, Location } from "./model/location.ts";
export { type BucketInfo, type NamespaceInfo, type OpenOptions, openStore, type Store } from "./open.ts";
export type * from "./script-types.ts";
export type * from "./types.ts";
