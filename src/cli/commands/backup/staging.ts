// Copies a cluster as of one instant to a folder, from which the backup is made.
import { copyClusterSnapshot } from "../../../maintenance.ts";
import type { CopyFinding } from "../../../model/copy.ts";
import type { ClusterLocation } from "../../../model/names/location.ts";
import type { Invocation } from "../../framework/command.ts";
import { CommandError } from "../../framework/command-error.ts";
import { toCommandError } from "../../framework/failures.ts";
import { escapeControls } from "../../framework/output.ts";
import { pathArgument } from "../../framework/path-argument.ts";
import { clearProgressLine } from "../../terminal/progress.ts";
import { runTransfer } from "../../terminal/transfer-progress.ts";

export interface StagedCopy {
  /** The folder, a data directory with the content of the cluster. */
  readonly data: string;
  /** Number of objects that are damaged in the cluster and missing in the copy. */
  readonly damages: number;
}

export async function copyToStaging(
  invocation: Invocation,
  from: ClusterLocation,
  staging: string | undefined,
): Promise<StagedCopy> {
  const { output } = invocation;
  if (staging === undefined) {
    throw new CommandError("The store is a cluster: its backup needs a folder for a copy of the store.", {
      hint: [
        "Name a folder with space for all objects, and keep it for the next backup: --staging DIR",
        "Or use the tools of PostgreSQL and of its blob storage.",
      ],
    });
  }
  const data = pathArgument(invocation, { label: "--staging", text: staging });
  const onFinding = async ({ kind, bucket = "", key = "", what }: CopyFinding) => {
    clearProgressLine(output);
    output.note(`${kind}: ${escapeControls(`${bucket}/${key}`)}: ${escapeControls(what)}`);
  };
  try {
    const { damages, differences } = await runTransfer(output, (progress, signal) =>
      copyClusterSnapshot({ from, to: data, progress, signal, onFinding }),
    );
    if (differences === 0) return { data, damages };
  } catch (error) {
    throw toCommandError(error, { storeKind: "cluster" });
  }
  throw new CommandError("The copy in the staging folder differs from the cluster. No backup was made.", {
    hint: "Stop every process that uses the staging folder, then run the same command again.",
  });
}
