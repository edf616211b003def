// Random commands before they are resolved. They refer to etags, uploads, cursors and SSE-C keys by
// their relation to the current state, so that commands can be printed and shrunk.
import fc from "fast-check";

export type Face = "binding" | "s3";
/** Which SSE-C key to send: the matching key, no key, or another key. */
export type Secret = "right" | "none" | "wrong";

export interface WantedCondition {
  readonly clause: "etagMatches" | "etagDoesNotMatch" | "uploadedBefore" | "uploadedAfter";
  readonly etag: "current" | "other" | "any";
  /** Offset from the object's date, in milliseconds. */
  readonly off: number;
  readonly form: "object" | "headers";
}

export interface WantedRange {
  readonly form: "object" | "header";
  readonly kind: "from" | "span" | "suffix";
  readonly at: number;
  readonly length: number;
}

export interface WantedBody {
  readonly size: number;
  readonly name: number;
  readonly as: "bytes" | "string" | "blob" | "stream" | "broken";
}

export interface WantedRead {
  readonly face: Face;
  readonly key: string;
  /** Whether to use the next key that has an object, if this key has none. */
  readonly isThere: boolean;
  readonly condition: WantedCondition | null;
  readonly range: WantedRange | null;
  readonly secret: Secret;
  readonly by: "bytes" | "stream";
  /** Part number to read (S3 API only). */
  readonly part: number | null;
}

export interface WantedWrite {
  readonly face: Face;
  readonly key: string;
  readonly body: WantedBody;
  readonly condition: WantedCondition | null;
  readonly metadata: number;
  readonly checksum: "none" | "right" | "wrong";
  readonly algorithm: number;
  readonly storageClass: "none" | "Standard" | "InfrequentAccess" | "unknown";
  /** Index of the SSE-C key to encrypt with; null: not encrypted. */
  readonly seal: number | null;
  readonly payload: "signed" | "unsigned" | "chunked" | "chunked, with trailer";
}

export interface WantedPage {
  readonly face: Face;
  readonly kind: "objects" | "older objects" | "versions" | "uploads" | "parts";
  readonly prefix: string;
  readonly delimiter: string;
  readonly limit: number | null;
  readonly after: "start" | "cursor" | string;
  readonly include: number;
  readonly upload: WantedUpload;
}

export interface WantedUpload {
  /** Whether to choose among uploads in flight, if any, and not among all uploads. */
  readonly isActive: boolean;
  /** Index counted back from the newest upload. */
  readonly back: number;
}

export interface WantedPart {
  readonly face: Face;
  readonly upload: WantedUpload;
  readonly number: number;
  readonly body: WantedBody;
  readonly secret: Secret;
  readonly isChecked: boolean;
  /** Key from which the part is copied (S3 API only); null: the part is uploaded. */
  readonly from: string | null;
}

export type Wanted =
  | ({ readonly do: "head" | "get" } & WantedRead)
  | ({ readonly do: "put" | "create upload" } & WantedWrite)
  | ({ readonly do: "copy"; readonly from: string; readonly replace: boolean } & WantedWrite)
  | {
      readonly do: "delete";
      readonly face: Face;
      readonly keys: readonly string[];
      readonly condition: WantedCondition | null;
    }
  | ({ readonly do: "list" } & WantedPage)
  | ({ readonly do: "upload part" } & WantedPart)
  | {
      readonly do: "complete";
      readonly face: Face;
      readonly upload: WantedUpload;
      readonly parts: "all" | "first" | "last" | "wrong etag" | "backwards" | "none";
      readonly condition: WantedCondition | null;
    }
  | { readonly do: "abort"; readonly face: Face; readonly upload: WantedUpload }
  | { readonly do: "lifecycle"; readonly rule: number }
  | { readonly do: "sweep" };

const keys = ["a", "a/", "a/b", "a/b/c", "a/b/d", "ab", "b", "dir/x y+z", "dir/é", "z\u{1f600}", "z\uffee"];
const key = fc.constantFrom(...keys);
const face = fc.constantFrom<Face[]>("binding", "binding", "s3");
export const secret = often<Secret>("right", fc.constantFrom<Secret[]>("none", "wrong"));

/** Draws the usual value with probability `weight` / (`weight` + 1), otherwise another value. */
export function often<T>(usual: T, others: fc.Arbitrary<T>, weight = 4): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: others });
}

const condition: fc.Arbitrary<WantedCondition | null> = often<WantedCondition | null>(
  null,
  fc.record<WantedCondition>({
    clause: fc.constantFrom("etagMatches", "etagDoesNotMatch", "uploadedBefore", "uploadedAfter"),
    etag: fc.constantFrom("current", "other", "any"),
    off: fc.constantFrom(-1000, -1, 0, 1, 1000),
    form: fc.constantFrom("object", "headers"),
  }),
  2,
);

const edges = [0, 1, 31, 32, 33, 47, 48, 49, 63, 64, 65, 96, 128, 255, 256, 257, 300, 513];

export const range: fc.Arbitrary<WantedRange | null> = often<WantedRange | null>(
  null,
  fc.record<WantedRange>({
    form: fc.constantFrom("object", "header"),
    kind: fc.constantFrom("from", "span", "suffix"),
    at: fc.constantFrom(...edges),
    length: fc.constantFrom(...edges),
  }),
  1,
);

const as = fc.oneof(
  { weight: 400, arbitrary: fc.constantFrom<WantedBody["as"][]>("bytes", "bytes", "string") },
  // Streams are rare: a body of unknown length is hashed in a worker thread, which starts slowly.
  { weight: 1, arbitrary: fc.constantFrom<WantedBody["as"][]>("stream", "broken") },
  { weight: 10, arbitrary: fc.constant<WantedBody["as"]>("blob") },
);
export const body: fc.Arbitrary<WantedBody> = fc.record({
  size: often(20, fc.constantFrom(...edges, 1000, 5000), 1),
  name: fc.nat(9),
  as,
});

const write: fc.Arbitrary<WantedWrite> = fc.record({
  face,
  key,
  body,
  condition,
  metadata: fc.constantFrom(...[0, 1, 2, 3].flatMap((usual) => Array(8).fill(usual) as number[]), 4),
  checksum: often<WantedWrite["checksum"]>("none", fc.constantFrom("right", "right", "wrong"), 2),
  algorithm: fc.nat(4),
  storageClass: often<WantedWrite["storageClass"]>(
    "none",
    fc.constantFrom("Standard", "InfrequentAccess", "InfrequentAccess", "unknown"),
  ),
  seal: often<number | null>(null, fc.nat(1), 4),
  payload: often<WantedWrite["payload"]>(
    "unsigned",
    fc.constantFrom("signed", "chunked", "chunked, with trailer"),
    2,
  ),
});

const read: fc.Arbitrary<WantedRead> = fc.record({
  face,
  key,
  isThere: often(true, fc.constant(false)),
  condition,
  range,
  secret,
  by: fc.constantFrom("bytes", "stream"),
  part: often<number | null>(null, fc.integer({ min: 1, max: 4 }), 6),
});

const upload: fc.Arbitrary<WantedUpload> = fc.record({
  isActive: often(true, fc.constant(false), 8),
  back: fc.nat(2),
});

const page: fc.Arbitrary<WantedPage> = fc.record({
  face,
  kind: often<WantedPage["kind"]>(
    "objects",
    fc.constantFrom("older objects", "versions", "uploads", "parts"),
    1,
  ),
  prefix: fc.constantFrom("", "", "a", "a/", "dir", "z", "nothing"),
  delimiter: fc.constantFrom("", "", "/", "b", "/b"),
  limit: often<number | null>(null, fc.constantFrom(0, 1, 2, 3, 1000, 1001), 1),
  after: fc.oneof(fc.constantFrom("start", "cursor"), key),
  include: fc.nat(3),
  upload,
});

const partBody = fc.record<WantedBody>({
  size: often(40, fc.constantFrom(...edges), 4),
  name: fc.nat(9),
  as,
});

export const wantedRead: fc.Arbitrary<Wanted> = fc.oneof(
  { weight: 3, arbitrary: read.map((wanted) => ({ do: "get" as const, ...wanted })) },
  { weight: 1, arbitrary: read.map((wanted) => ({ do: "head" as const, ...wanted })) },
  { weight: 2, arbitrary: page.map((wanted) => ({ do: "list" as const, ...wanted })) },
);

export const wantedDelete: fc.Arbitrary<Wanted> = fc.record({
  do: fc.constant("delete" as const),
  face,
  keys: fc.oneof(
    key.map((one) => [one]),
    fc.uniqueArray(key, { minLength: 2, maxLength: 4 }),
  ),
  condition,
});

/** Writes that are applied in one commit or not at all. */
export const wantedWrite: fc.Arbitrary<Wanted> = fc.oneof(
  { weight: 8, arbitrary: write.map((wanted) => ({ do: "put" as const, ...wanted })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(write, key, fc.boolean())
      .map(([wanted, from, replace]) => ({ do: "copy" as const, ...wanted, from, replace })),
  },
  { weight: 2, arbitrary: wantedDelete },
  { weight: 2, arbitrary: write.map((wanted) => ({ do: "create upload" as const, ...wanted })) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("upload part" as const),
      face,
      upload,
      number: fc.integer({ min: 1, max: 4 }),
      body: partBody,
      secret,
      isChecked: fc.boolean(),
      from: often<string | null>(null, key),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("complete" as const),
      face,
      upload,
      parts: often<"all" | "first" | "last" | "wrong etag" | "backwards" | "none">(
        "all",
        fc.constantFrom("first", "last", "wrong etag", "backwards", "none"),
      ),
      condition,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("abort" as const), face, upload }) },
);

export const wantedRest: fc.Arbitrary<Wanted> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ do: "sweep" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lifecycle" as const), rule: fc.nat(3) }) },
);

export const anyKey = key;
