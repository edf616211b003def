// What the model test and the process of the store say to each other.
import { createHash } from "node:crypto";
import type { Answer, Task } from "./operation.ts";

export type Question =
  | { readonly do: "open"; readonly directory: string }
  | { readonly do: "task"; readonly task: Task }
  /** One after the other, up to the first whose answer is not the expected one; told is that one. */
  | { readonly do: "tasks"; readonly tasks: readonly Expected[] }
  /** Beside others: with a clock and chance of its own. */
  | { readonly do: "begin"; readonly task: Task }
  | { readonly do: "reopen" }
  /** Closes, holds every file against the records, and opens again. */
  | { readonly do: "audit" }
  | { readonly do: "verify" }
  | { readonly do: "flip"; readonly flip: Flip }
  | { readonly do: "mend" }
  /** Ends everything in the bucket, and sees that nothing of it is left. */
  | { readonly do: "empty"; readonly now: number };

export interface Expected {
  readonly task: Task;
  readonly digest: string;
}

export interface Unexpected {
  readonly at: number;
  readonly answer: Answer;
}

/** Enough to tell two answers apart, without sending them. */
export function answerDigest(answer: Answer): string {
  return createHash("md5").update(answer).digest("base64");
}

/** Which bit of what is stored for a key. */
export interface Flip {
  readonly key: string;
  readonly of: "body" | "record";
  /** Taken modulo what there is. */
  readonly part: number;
  readonly offset: number;
  readonly bit: number;
}

export type Reply = { readonly id: number } & ({ readonly answer: unknown } | { readonly failed: string });
