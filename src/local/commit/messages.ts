// What the serving thread, and other processes, say to the writer thread that commits for them.
import type { BucketRecord } from "../../model/bucket.ts";
import type { Layout } from "../disk/layout.ts";
import type { DocumentWrite } from "../documents.ts";

export interface WriterData {
  readonly layout: Layout;
  readonly processName: string;
  /** Where it counts. */
  readonly metricsBuffer: SharedArrayBuffer;
  /** How long a commit waits for the write lock of another process. */
  readonly busyMilliseconds: number;
}

/** Changes to one bucket that are committed together, each with an outcome of its own. */
export interface Group {
  readonly bucketId: string;
  readonly count: number;
  /** As packed-changes.ts lays them out. */
  readonly changes: Uint8Array<ArrayBuffer>;
}

export interface Failure {
  readonly failure: "full" | "failed";
  readonly message: string;
  /** SQLite's result code, when it was SQLite that failed. */
  readonly code: number | undefined;
}

export type Outcome = "committed" | "conflict" | "no such bucket" | Failure;

export type Job =
  | { readonly kind: "commit"; readonly groups: readonly Group[] }
  | { readonly kind: "create bucket"; readonly bucket: BucketRecord }
  | { readonly kind: "delete bucket"; readonly name: string }
  | { readonly kind: "put document"; readonly write: DocumentWrite }
  | { readonly kind: "delete document"; readonly documentKind: string; readonly name: string }
  /** Commits for other processes, too. */
  | { readonly kind: "start server" }
  | { readonly kind: "close" };

export type Request = Job & { readonly id: number };

/** Whoever commits: the writer thread of this process, or that of another. */
export interface Committer {
  submit(job: Job): Promise<unknown>;
  /** False once it cannot be asked any more. */
  isOpen(): boolean;
  close(): Promise<void>;
}

export interface Reply {
  readonly id: number;
  readonly result: Outcome[][] | boolean | string | Failure | undefined;
}
