// The exports of the package, for programs that embed Store.

export { type Grant, parseGrant } from "./access/grants.ts";
export {
  createTemporaryCredentials,
  type Issuer,
  type NewTemporaryCredentials,
  type TemporaryCredentials,
  TemporaryCredentialsError,
} from "./access/temporary/token.ts";
export type { BucketOptions } from "./binding/bind.ts";
export { FixedLengthStream } from "./binding/fixed-length-stream.ts";
export type { Presigner } from "./binding/presign.ts";
export type * from "./credential-types.ts";
export type { SweepReport } from "./engine/maintenance/reports.ts";
export type * from "./kv-types.ts";
export { type Action, type Reason, StoreError, type StoreErrorOptions } from "./model/errors.ts";
export type { ClusterLocation, Location } from "./model/names/location.ts";
export { type BucketInfo, type NamespaceInfo, type OpenOptions, openStore, type Store } from "./open.ts";
export type * from "./script-types.ts";
export type * from "./types.ts";
