// Types of a copy of a whole store: stages, findings, progress, report and errors.

/** A copy first transfers missing items, then compares both sides. */
export type CopyStage = "copy" | "verify";

/** An item that is damaged in the source or differs between the two sides. */
export interface CopyFinding {
  /** "damaged": unreadable in the source. "different": the two sides differ. */
  readonly kind: "damaged" | "different";
  /** The item's bucket. Undefined if the item is not in a bucket. */
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  readonly what: string;
}

export interface CopyReport {
  readonly buckets: number;
  readonly objects: number;
  /** Total size of the objects, without checksums and encryption overhead. */
  readonly bytes: number;
  /** Number of uploads that are active or recently ended. */
  readonly uploads: number;
  readonly documents: number;
  /** Number of objects copied by this run. The other objects were already in the target. */
  readonly copiedObjects: number;
  readonly damages: number;
  readonly differences: number;
}

export interface CopyProgress {
  /** Called when a stage starts, with the estimated number of its bytes. */
  expect(stage: CopyStage, bytes: number): void;
  /** Called with the number of bytes processed since the last call. */
  advance(bytes: number): void;
}

export interface CopyWork {
  readonly progress?: CopyProgress | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each finding. */
  readonly onFinding?: ((finding: CopyFinding) => Promise<void>) | undefined;
}

/** Thrown if a copy cannot be made. Includes advice for the user. */
export class CopyError extends Error {
  override readonly name = "CopyError";
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.hints = hints;
  }
}
