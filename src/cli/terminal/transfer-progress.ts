// The progress of a backup or a restore, whose size is known only once it has begun.
import type { BackupProgress } from "../../model/backup.ts";
import type { Output } from "../framework/output.ts";
import { type Progress, startProgress } from "./progress.ts";

export async function startTransfer<T>(
  output: Output,
  label: string,
  work: (progress: BackupProgress) => Promise<T>,
): Promise<T> {
  let line: Progress | undefined;
  try {
    return await work({
      expect(total) {
        line?.end();
        line = startProgress(output, { label, total });
      },
      advance: (bytes) => line?.advance(bytes),
    });
  } finally {
    line?.end();
  }
}
