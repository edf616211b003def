// The operations of the model tests as plain data, applied to the model and, in another process, to
// the store on disk.
import type { ObjectLock } from "../../../src/model/lock.ts";
import type { TagPairs, VersionOperation } from "./versions/operation.ts";

export const bucketName = "modelled";

/** SSE-C keys, chosen by index. */
export const customerKeys = ["5e".repeat(32), "a7".repeat(32)] as const;

export interface Body {
  readonly size: number;
  /** Seed of the bytes. */
  readonly name: number;
  /** The type a script passes; `broken` is a stream that fails halfway. */
  readonly as: "bytes" | "string" | "blob" | "stream" | "broken";
}

export interface UploadName {
  readonly key: string;
  readonly id: string;
}

/** Options as a script passes them; headers are a plain object. */
export interface ReadOptions {
  readonly range?: Readonly<Record<string, number>>;
  readonly rangeHeader?: string;
  readonly onlyIf?: Readonly<Record<string, string | number | boolean>>;
  readonly onlyIfHeaders?: Readonly<Record<string, string>>;
  readonly ssecKey?: string;
}

export interface WriteOptions {
  readonly onlyIf?: Readonly<Record<string, string | number | boolean>>;
  readonly onlyIfHeaders?: Readonly<Record<string, string>>;
  readonly httpMetadata?: Readonly<Record<string, string | number>>;
  readonly customMetadata?: Readonly<Record<string, string>>;
  readonly storageClass?: string;
  readonly ssecKey?: string;
  readonly md5?: string;
  readonly sha1?: string;
  readonly sha256?: string;
  readonly sha384?: string;
  readonly sha512?: string;
}

export interface ListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly cursor?: string;
  readonly startAfter?: string;
  readonly limit?: number;
  readonly include?: readonly ("httpMetadata" | "customMetadata")[];
}

export interface NamedPart {
  readonly partNumber: number;
  readonly etag: string;
}

export interface S3Call {
  readonly do: "s3";
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Undefined for an operation on the bucket itself. */
  readonly key?: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body | string;
  /** How the body is signed and framed. */
  readonly payload?: "signed" | "unsigned" | "chunked" | "chunked, with trailer";
}

export type Operation =
  | { readonly do: "head"; readonly key: string }
  | {
      readonly do: "get";
      readonly key: string;
      readonly options: ReadOptions;
      readonly by: "bytes" | "stream";
    }
  | { readonly do: "put"; readonly key: string; readonly body: Body; readonly options: WriteOptions }
  | { readonly do: "delete"; readonly keys: string | readonly string[] }
  | { readonly do: "list"; readonly options: ListOptions }
  | {
      readonly do: "create upload";
      readonly key: string;
      readonly options: WriteOptions;
      /** Tags and lock of the object, which scripts cannot set. */
      readonly extras?: { readonly tags: TagPairs; readonly lock: ObjectLock | null };
    }
  | {
      readonly do: "upload part";
      readonly upload: UploadName;
      readonly number: number;
      readonly body: Body;
      readonly ssecKey?: string;
    }
  | { readonly do: "complete"; readonly upload: UploadName; readonly parts: readonly NamedPart[] }
  | { readonly do: "abort"; readonly upload: UploadName }
  | { readonly do: "sweep" }
  /** Returns all visible contents of the bucket. */
  | { readonly do: "snapshot" }
  | VersionOperation
  | S3Call;

const reads: readonly Operation["do"][] = [
  "head",
  "get",
  "list",
  "snapshot",
  "read version",
  "list at",
  "list versions",
];

export function isRead(operation: Operation): boolean {
  if (operation.do === "s3") return operation.method === "GET" || operation.method === "HEAD";
  return reads.includes(operation.do);
}

/** An operation with its time and randomness, so that both sides create equal IDs and dates. */
export interface Task {
  readonly operation: Operation;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Seed of all randomness. */
  readonly draw: string;
}

/** The outcome as JSON, so that two answers can be compared as text. */
export type Answer = string;
