// Tests codes and messages of the whole error table of binding.md, including errors that only the
// S3 API or failing storage can cause.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Reason, reasonTable } from "../../../../src/model/errors.ts";

/** The message is null if binding.md does not specify it. */
export const table: readonly (readonly [reason: Reason, code: number, message: string | null])[] = [
  ["InternalError", 10001, "We encountered an internal error. Please try again."],
  ["Damaged", 10001, null],
  ["AccessDenied", 10003, "Access Denied."],
  ["InvalidBucketName", 10005, "The specified bucket name is not valid."],
  ["NoSuchBucket", 10006, "The specified bucket does not exist."],
  ["NoSuchKey", 10007, "The specified key does not exist."],
  ["BucketNotEmpty", 10008, "The bucket you tried to delete is not empty."],
  ["EntityTooSmall", 10011, "Your proposed upload is smaller than the minimum allowed object size."],
  ["MetadataTooLarge", 10012, "Your metadata headers exceed the maximum allowed metadata size."],
  ["IncompleteBody", 10013, null],
  ["InvalidDigest", 10014, null],
  ["InvalidObjectName", 10020, "The specified object name is not valid."],
  ["InvalidMaxKeys", 10022, "MaxKeys params must be positive integer <= 1000."],
  ["NoSuchUpload", 10024, "The specified multipart upload does not exist."],
  ["InvalidPart", 10025, "One or more of the specified parts could not be found."],
  ["InvalidPartNumber", 10026, "The requested partnumber is not satisfiable."],
  ["TooManyKeys", 10027, "The number of keys in the request must be between 1 and 1000 inclusive."],
  ["InvalidArgument", 10029, null],
  ["PreconditionFailed", 10031, "At least one of the pre-conditions you specified did not hold."],
  ["BadDigest", 10037, null],
  ["InvalidRange", 10039, "The requested range is not satisfiable"],
  ["ServiceUnavailable", 10043, null],
  ["InsufficientStorage", 10044, null],
  ["UnevenParts", 10048, "All non-trailing parts must have the same length."],
  ["MethodNotAllowed", 10057, null],
  ["TooManyUploads", 10058, null],
  ["QuotaExceeded", 10074, null],
  ["InvalidTag", 10059, null],
  ["NoSuchVersion", 10060, "The specified version does not exist."],
  ["InvalidBucketState", 10061, null],
  ["InvalidStorageClass", 10062, "The storage class specified is not valid."],
  ["BucketConflict", 10073, null],
  ["EntityTooLarge", 100100, "Your proposed upload exceeds the maximum allowed object size."],
];

/** Returns the message of a code, to compare thrown errors with. */
export function messageOf(code: number): string {
  const row = table.find((entry) => entry[1] === code && entry[2] !== null);
  assert.ok(row?.[2], `binding.md has no words for ${code}`);
  return row[2];
}

export function reasonTableContract(): void {
  describe("every reason of a StoreError has a code and a message", () => {
    for (const [reason, code, message] of table) {
      test(`an error with reason ${reason} has code ${code} and its documented message`, () => {
        const [actualCode, actualMessage] = reasonTable[reason];
        assert.equal(actualCode, code);
        if (message === null) assert.notEqual(actualMessage, "");
        else assert.equal(actualMessage, message);
      });
    }

    test("every error reason is documented and has its own code, except that Damaged and InternalError share one", () => {
      const known = new Set<string>(table.map(([reason]) => reason));
      assert.deepEqual(
        Object.keys(reasonTable).filter((reason) => !known.has(reason)),
        [],
      );
      const codes = Object.values(reasonTable).map(([code]) => code);
      const shared = codes.filter((code, i) => codes.indexOf(code) !== i);
      assert.deepEqual(shared, [reasonTable.Damaged[0]]);
    });
  });
}
