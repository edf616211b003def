// Copies of a whole store in the domain's words: what one tells as it goes and at its end, and why it is refused.

/** What a copy does: brings over what is missing, then compares both sides. */
export type CopyStage = "copy" | "verify";

/** Something that is not, or not the same, on both sides. */
export interface CopyFinding {
  /** "damaged": it cannot be read in the source. "different": the two sides are not the same. */
  readonly kind: "damaged" | "different";
  /** None where it is about what lies beside the buckets. */
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  readonly what: string;
}

export interface CopyReport {
  readonly buckets: number;
  readonly objects: number;
  /** Of the objects, as their callers count them. */
  readonly bytes: number;
  /** Uploads in flight or lately ended. */
  readonly uploads: number;
  readonly documents: number;
  /** How many objects this run brought over; the others were there from an earlier one. */
  readonly copiedObjects: number;
  readonly damages: number;
  readonly differences: number;
}

export interface CopyProgress {
  /** A stage begins, with so many bytes as well as they are known beforehand. */
  expect(stage: CopyStage, bytes: number): void;
  /** Bytes dealt with since the last call. */
  advance(bytes: number): void;
}

export interface CopyWork {
  readonly progress?: CopyProgress | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told of each finding as it is made. */
  readonly onFinding?: ((finding: CopyFinding) => Promise<void>) | undefined;
}

/** Why a copy cannot be made: told to whoever asked for it, with what to do about it. */
export class CopyError extends Error {
  override readonly name = "CopyError";
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.hints = hints;
  }
}
