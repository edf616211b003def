// Messages from the serving thread and other processes to the writer thread, and its replies.
import type { BucketRecord } from "../../model/bucket.ts";
import type { Layout } from "../disk/layout.ts";
import type { DocumentDeletion, DocumentWrite } from "../documents.ts";

export interface WriterData {
  readonly layout: Layout;
  readonly processName: string;
  /** Shared memory for the thread's metrics (disk/metrics.ts). */
  readonly metricsBuffer: SharedArrayBuffer;
  /** Maximum time that a commit waits for the write lock of another process. */
  readonly busyMilliseconds: number;
}

/** Changes to one bucket that are committed together. Each change has its own outcome. */
export interface Group {
  readonly bucketId: string;
  readonly count: number;
  /** Packed by change-codec.ts. */
  readonly changes: Uint8Array<ArrayBuffer>;
}

export interface Failure {
  readonly failure: "full" | "failed";
  readonly message: string;
  /** SQLite's result code, if SQLite failed. */
  readonly code: number | undefined;
}

export type Outcome = "committed" | "conflict" | "over quota" | "no such bucket" | Failure;

export type Job =
  | { readonly kind: "commit"; readonly groups: readonly Group[] }
  | { readonly kind: "create bucket"; readonly bucket: BucketRecord }
  | { readonly kind: "delete bucket"; readonly name: string }
  | { readonly kind: "put document"; readonly write: DocumentWrite }
  | { readonly kind: "delete document"; readonly deletion: DocumentDeletion }
  /** Makes the thread also commit for other processes. */
  | { readonly kind: "start server" }
  | { readonly kind: "close" };

export type Request = Job & { readonly id: number };

/** The writer thread of this process, or a connection to that of another process. */
export interface Committer {
  submit(job: Job): Promise<unknown>;
  /** Returns false if the committer accepts no more jobs. */
  isOpen(): boolean;
  close(): Promise<void>;
}

export interface Reply {
  readonly id: number;
  readonly result: Outcome[][] | boolean | string | Failure | undefined;
}
