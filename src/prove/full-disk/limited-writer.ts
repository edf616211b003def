// The program of the full disk: clients write until each has made its operations. It continues
// after errors, so that an acknowledgement of a write that failed would be seen.
import { StoreError } from "../../model/errors.ts";
import { openStore } from "../../open.ts";
import type { Report, WriterTask } from "../kill/object-writer.ts";
import { createOperations } from "../kill/operations.ts";
import { readTask, say } from "../kill/run-until-killed.ts";

export interface LimitedTask extends WriterTask {
  /** Operations of each client. */
  readonly operations: number;
}

/** Report of an error: its message, and whether it is one of the store's own errors. */
export interface FailureReport {
  readonly said: "failure";
  readonly during: "open" | "write";
  readonly isClear: boolean;
  readonly message: string;
}

export type LimitedReport = Report | FailureReport;

function sayFailure(during: FailureReport["during"], error: unknown): void {
  // Before the store is open, a plain system error is clear enough.
  const isSystemError = error instanceof Error && "code" in error;
  const isClear = error instanceof StoreError || (during === "open" && isSystemError);
  const message = error instanceof Error ? error.message : String(error);
  say({ said: "failure", during, isClear, message } satisfies FailureReport);
}

async function write(task: LimitedTask): Promise<void> {
  const store = await openStore(task.directory).catch((error: unknown) => sayFailure("open", error));
  if (store === undefined) return;
  const work = createOperations(store, task).map(async (operate) => {
    for (let i = 0; i < task.operations; i++) {
      await operate().catch((error: unknown) => sayFailure("write", error));
    }
  });
  await Promise.all(work);
}

await write(readTask<LimitedTask>());
// Without a close: the parent process must find every acknowledged write all the same.
process.exit(0);
