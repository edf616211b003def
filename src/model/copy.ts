// Types of a copy of a whole store: stages, findings, progress, report and errors.

/** A copy first transfers what is missing, then compares both sides. */
export type CopyStage = "copy" | "verify";

/** An item that is damaged in the source or differs between both sides. */
export interface CopyFinding {
  /** "damaged": unreadable in the source. "different": not the same on both sides. */
  readonly kind: "damaged" | "different";
  /** Undefined when the item is not in a bucket. */
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  readonly what: string;
}

export interface CopyReport {
  readonly buckets: number;
  readonly objects: number;
  /** Bytes of the objects, as their users count them. */
  readonly bytes: number;
  /** Uploads in flight or recently ended. */
  readonly uploads: number;
  readonly documents: number;
  /** Objects copied by this run; the others were already in the target. */
  readonly copiedObjects: number;
  readonly damages: number;
  readonly differences: number;
}

export interface CopyProgress {
  /** A stage begins, with an estimate of its bytes. */
  expect(stage: CopyStage, bytes: number): void;
  /** Bytes processed since the last call. */
  advance(bytes: number): void;
}

export interface CopyWork {
  readonly progress?: CopyProgress | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each finding. */
  readonly onFinding?: ((finding: CopyFinding) => Promise<void>) | undefined;
}

/** A copy that cannot be made, with advice for the user. */
export class CopyError extends Error {
  override readonly name = "CopyError";
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.hints = hints;
  }
}
