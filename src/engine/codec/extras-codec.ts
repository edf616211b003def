// Encodes the fields that few records have, as the last element of a record: tags, locks and whether
// the version was written with versioning on. Earlier versions of Store ignore this element.
import type { ObjectLock, RetentionMode } from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { expectFields, expectList, expectMember, expectText, expectTime } from "./validate.ts";

type Extras = Pick<ObjectRecord, "tags" | "lock" | "isVersioned">;

export interface EncodedExtras {
  /** Whether the record is versioned. */
  readonly v?: 1;
  readonly tags?: readonly (readonly [string, string])[];
  readonly mode?: RetentionMode;
  readonly until?: number;
  readonly hold?: 0 | 1;
}

/** Returns undefined if the record has none of these fields. */
export function encodeExtras({ tags, lock, isVersioned }: Extras): EncodedExtras | undefined {
  if (tags === undefined && lock === undefined && isVersioned === undefined) return undefined;
  return {
    ...(isVersioned === true ? { v: 1 } : {}),
    ...(tags === undefined ? {} : { tags: [...tags] }),
    ...(lock?.retention === undefined ? {} : lock.retention),
    ...(lock?.legalHold === undefined ? {} : { hold: lock.legalHold ? 1 : 0 }),
  };
}

const fieldNames = ["v", "tags", "mode", "until", "hold"];

export function decodeExtras(encoded: EncodedExtras | undefined): Extras {
  if (encoded === undefined) return {};
  expectFields(encoded, (_, name) => fieldNames.includes(name));
  const { v, tags } = encoded;
  const lock = decodeLock(encoded);
  return {
    ...(v === 1 ? { isVersioned: true } : {}),
    ...(tags === undefined ? {} : { tags: decodeTags(tags) }),
    ...(lock === undefined ? {} : { lock }),
  };
}

function decodeTags(tags: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  expectList(tags);
  for (const [key, value] of tags) for (const text of [key, value]) expectText(text);
  return new Map(tags);
}

function decodeLock({ mode, until, hold }: EncodedExtras): ObjectLock | undefined {
  if (hold !== undefined) expectMember(hold, [0, 1]);
  const held = hold === undefined ? {} : { legalHold: hold === 1 };
  if (mode === undefined) return hold === undefined ? undefined : held;
  expectMember(mode, ["governance", "compliance"]);
  expectTime(until);
  return { retention: { mode, until: until! }, ...held };
}
