// The table of all error reasons. Every front end must map each reason; otherwise it does not
// compile.

const reasons = {
  InternalError: [10001, "We encountered an internal error. Please try again."],
  // Has the same code as InternalError, because scripts have always received that code for damage.
  Damaged: [10001, "The stored data is damaged."],
  AccessDenied: [10003, "Access Denied."],
  InvalidBucketName: [10005, "The specified bucket name is not valid."],
  NoSuchBucket: [10006, "The specified bucket does not exist."],
  NoSuchKey: [10007, "The specified key does not exist."],
  BucketNotEmpty: [10008, "The bucket you tried to delete is not empty."],
  EntityTooSmall: [10011, "Your proposed upload is smaller than the minimum allowed object size."],
  MetadataTooLarge: [10012, "Your metadata headers exceed the maximum allowed metadata size."],
  IncompleteBody: [10013, "The body ended before its declared length."],
  InvalidDigest: [10014, "The checksum you specified is not valid."],
  InvalidObjectName: [10020, "The specified object name is not valid."],
  InvalidMaxKeys: [10022, "MaxKeys params must be positive integer <= 1000."],
  NoSuchUpload: [10024, "The specified multipart upload does not exist."],
  InvalidPart: [10025, "One or more of the specified parts could not be found."],
  InvalidPartNumber: [10026, "The requested partnumber is not satisfiable."],
  TooManyKeys: [10027, "The number of keys in the request must be between 1 and 1000 inclusive."],
  InvalidArgument: [10029, "The request is not valid."],
  PreconditionFailed: [10031, "At least one of the pre-conditions you specified did not hold."],
  BadDigest: [10037, "The checksum you specified did not match what we received."],
  InvalidRange: [10039, "The requested range is not satisfiable"],
  ServiceUnavailable: [10043, "The storage behind this service cannot be reached. Please try again."],
  InsufficientStorage: [10044, "The disk is full: delete objects or add space, then try again."],
  UnevenParts: [10048, "All non-trailing parts must have the same length."],
  TooManyUploads: [10058, "Too many multipart uploads are open: complete or abort some, then try again."],
  MethodNotAllowed: [10057, "The version does not allow this operation."],
  InvalidTag: [10059, "The tags are not valid."],
  NoSuchVersion: [10060, "The specified version does not exist."],
  InvalidBucketState: [10061, "The bucket's settings do not allow this."],
  InvalidStorageClass: [10062, "The storage class specified is not valid."],
  BucketConflict: [10073, "The bucket name is already taken."],
  QuotaExceeded: [
    10074,
    "The bucket's quota is used up: delete objects and old versions or raise the quota, then try again.",
  ],
  EntityTooLarge: [100100, "Your proposed upload exceeds the maximum allowed object size."],
} as const;

export type Reason = keyof typeof reasons;

/** Every reason with its code and default message. */
export const reasonTable: Readonly<Record<Reason, readonly [code: number, message: string]>> = reasons;

/** The operation that failed. The message starts with it. */
export type Action =
  | "head"
  | "get"
  | "put"
  | "delete"
  | "list"
  | "setTags"
  | "setRetention"
  | "setLegalHold"
  | "createMultipartUpload"
  | "uploadPart"
  | "completeMultipartUpload"
  | "abortMultipartUpload"
  | "createBucket"
  | "listBuckets"
  | "deleteBucket";

export interface StoreErrorOptions {
  readonly action?: Action | undefined;
  /** Replaces the reason's default message. */
  readonly detail?: string | undefined;
  readonly cause?: unknown;
  /** Whether the change was definitely not made: the database was busy or unreachable. */
  readonly notDone?: true | undefined;
  /** The size of the object that the requested range is outside of. */
  readonly objectSize?: number | undefined;
}

export class StoreError extends Error {
  declare readonly name: "StoreError";
  // Private, so that neither JSON nor a printed error shows them: the message has code and action.
  readonly #reason: Reason;
  readonly #action: Action | undefined;
  readonly #detail: string;
  readonly #isNotDone: boolean;
  readonly #objectSize: number | undefined;

  constructor(reason: Reason, options: StoreErrorOptions = {}) {
    const [code, defaultMessage] = reasons[reason];
    const detail = options.detail ?? defaultMessage;
    const prefix = options.action === undefined ? "" : `${options.action}: `;
    super(`${prefix}${detail} (${code})`, options.cause === undefined ? undefined : { cause: options.cause });
    this.#reason = reason;
    this.#action = options.action;
    this.#detail = detail;
    this.#isNotDone = options.notDone === true;
    this.#objectSize = options.objectSize;
  }

  static {
    // On the prototype, as the names of JavaScript's own errors are.
    Object.defineProperty(StoreError.prototype, "name", {
      ...{ value: "StoreError", configurable: true, writable: true },
    });
  }

  get reason(): Reason {
    return this.#reason;
  }

  get code(): number {
    return reasons[this.#reason][0];
  }

  get action(): Action | undefined {
    return this.#action;
  }

  /** The message without action and code. */
  get detail(): string {
    return this.#detail;
  }

  /** Whether the change was definitely not made. ServiceUnavailable alone does not imply this. */
  get isNotDone(): boolean {
    return this.#isNotDone;
  }

  /** The size of the object that the requested range is outside of. */
  get objectSize(): number | undefined {
    return this.#objectSize;
  }
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether Store itself is at fault, by a bug or by damaged data: never the caller's input. */
export function isStoreFault({ reason }: StoreError): boolean {
  return reason === "InternalError" || reason === "Damaged";
}

/**
 * Whether a commit that rejected with this error may have happened or may still happen, so that its
 * staged bytes must stay. True for every error that is not a StoreError.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof StoreError)) return true;
  return error.reason === "ServiceUnavailable" && !error.isNotDone;
}

/** Adds the action to the error. Errors other than StoreErrors are returned unchanged. */
export function attachAction(action: Action, error: unknown): unknown {
  if (!(error instanceof StoreError) || error.action !== undefined) return error;
  const { reason, detail, cause, isNotDone, objectSize } = error;
  const annotated = new StoreError(reason, {
    action,
    detail,
    cause,
    objectSize,
    ...(isNotDone ? { notDone: true } : {}),
  });
  // Keep the stack of the original error, with the new message.
  if (error.stack !== undefined) annotated.stack = error.stack.replace(error.message, annotated.message);
  return annotated;
}

/** Throws an InternalError if the condition is false, which is always a bug in Store. */
export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition) throw new StoreError("InternalError", { cause: new Error(`Broken invariant: ${what}`) });
}

/** Ends a switch over all kinds. A new kind does not compile here, and throws if it arrives anyway. */
export function refuseKind(value: never): never {
  const { kind } = value as { readonly kind?: unknown };
  throw new StoreError("InternalError", { cause: new Error(`Unknown kind: ${String(kind)}`) });
}
