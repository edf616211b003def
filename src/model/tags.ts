// Tags of objects and buckets, with the limits of S3.
import { StoreError } from "./errors.ts";

export type Tags = ReadonlyMap<string, string>;

const maxKeyLength = 128;
const maxValueLength = 256;
export const maxObjectTags = 10;
export const maxBucketTags = 50;

/** Letters, digits and spaces of any script, and the punctuation that S3 allows. */
const allowed = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/** Throws InvalidTag if the tags exceed a limit or have a character that S3 does not allow. */
export function checkTags(tags: Tags, maxTags: number): void {
  if (tags.size > maxTags) throw tooManyTags(maxTags);
  for (const [key, value] of tags) {
    if (key === "" || key.length > maxKeyLength)
      throw invalidTag(`A tag's key must have 1 to ${maxKeyLength} characters.`);
    if (value.length > maxValueLength)
      throw invalidTag(`The value of tag "${key}" has more than ${maxValueLength} characters.`);
    if (!allowed.test(key) || !allowed.test(value))
      throw invalidTag(
        `Tag "${key}" has a character that is not allowed: use letters, digits, spaces and _ . : / = + - @`,
      );
    if (/^aws:/i.test(key)) throw invalidTag('Keys that start with "aws:" are reserved.');
  }
}

export function tooManyTags(maxTags: number): StoreError {
  return invalidTag(`There are more than ${maxTags} tags: use at most ${maxTags}.`);
}

function invalidTag(detail: string): StoreError {
  return new StoreError("InvalidTag", { detail });
}
