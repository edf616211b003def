// Messages between the model test and the process of the store.
import { createHash } from "node:crypto";
import type { Answer, Task } from "./operation.ts";

export type Question =
  | { readonly do: "open"; readonly directory: string }
  | { readonly do: "task"; readonly task: Task }
  /** Performs tasks until an answer is not the expected answer; returns that answer. */
  | { readonly do: "tasks"; readonly tasks: readonly Expected[] }
  /** Performs a task concurrently with other tasks, with its own clock and randomness. */
  | { readonly do: "begin"; readonly task: Task }
  | { readonly do: "reopen" }
  /** Closes the store, compares every file with the records, and opens it again. */
  | { readonly do: "audit" }
  | { readonly do: "verify" }
  | { readonly do: "flip"; readonly flip: Flip }
  | { readonly do: "mend" }
  /** Deletes everything in the bucket and checks that nothing remains. */
  | { readonly do: "empty"; readonly now: number };

export interface Expected {
  readonly task: Task;
  readonly digest: string;
}

export interface Unexpected {
  readonly at: number;
  readonly answer: Answer;
}

/** Returns a digest with which answers can be compared without sending them. */
export function answerDigest(answer: Answer): string {
  return createHash("md5").update(answer).digest("base64");
}

/** The bit to flip in the stored data of a key. */
export interface Flip {
  readonly key: string;
  readonly of: "body" | "record";
  /** Hits a version of the key, counted back from the newest; null: the current object. */
  readonly back: number | null;
  /** Index of the part, modulo the number of parts; `offset` is modulo the size. */
  readonly part: number;
  readonly offset: number;
  readonly bit: number;
}

export type Reply = { readonly id: number } & ({ readonly answer: unknown } | { readonly failed: string });
