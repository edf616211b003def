// What the model tests ask of a store, as plain data: the same words go to the model and, in another process,
// to the store on disk.

export const bucketName = "modelled";

/** Customers' keys, by their place. */
export const customerKeys = ["5e".repeat(32), "a7".repeat(32)] as const;

export interface Body {
  readonly size: number;
  /** What the bytes are made from. */
  readonly name: number;
  /** How a script gives them; `broken` is a stream that fails half way. */
  readonly as: "bytes" | "string" | "blob" | "stream" | "broken";
}

export interface UploadName {
  readonly key: string;
  readonly id: string;
}

/** Options as a script gives them, but for headers, which stand as a plain object. */
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
  /** Undefined for the bucket itself. */
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
  | { readonly do: "create upload"; readonly key: string; readonly options: WriteOptions }
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
  /** Everything that can be seen of the bucket. */
  | { readonly do: "snapshot" }
  | S3Call;

/** An operation with the time and the chance it meets: both sides then make the same ids and dates. */
export interface Task {
  readonly operation: Operation;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** All randomness is drawn from it. */
  readonly draw: string;
}

/** What became of it, as JSON, so that two answers are compared as texts. */
export type Answer = string;
