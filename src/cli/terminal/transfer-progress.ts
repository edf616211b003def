// Runs a transfer with a progress line. A signal interrupts the transfer.
import { runInterruptible } from "../framework/interrupt.ts";
import type { Output } from "../framework/output.ts";
import { type Progress, type ProgressOptions, startProgress } from "./progress.ts";

export interface TransferProgress {
  /** Starts a new progress line, which replaces the previous line. */
  expect(label: ProgressOptions["label"], totalBytes?: number): void;
  advance(bytes: number): void;
}

/** Removes the progress line before it returns, so that the caller can print its report. */
export async function runTransfer<T>(
  output: Output,
  work: (progress: TransferProgress, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let line: Progress | undefined;
  const progress: TransferProgress = {
    expect(label, total) {
      line?.end();
      line = startProgress(output, { label, total });
    },
    advance: (bytes) => line?.advance(bytes),
  };
  try {
    return await runInterruptible((signal) => work(progress, signal));
  } finally {
    line?.end();
  }
}
