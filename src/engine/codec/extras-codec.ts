// Encodes the fields that few records have, as the last element of a record: tags, locks, values
// of front ends and whether the version was written with versioning on. Earlier versions of Store ignore this element.
import type { ObjectLock, RetentionMode } from "../../model/lock.ts";
import type { ObjectRecord } from "../../model/object.ts";
import { expectFields, expectList, expectMember, expectText, expectTime } from "./validate.ts";

type Extras = Pick<ObjectRecord, "tags" | "lock" | "isVersioned" | "passthrough">;

export interface EncodedExtras {
  /** Whether the record is versioned. */
  readonly v?: 1;
  readonly tags?: readonly (readonly [string, string])[];
  readonly mode?: RetentionMode;
  readonly until?: number;
  readonly hold?: 0 | 1;
  readonly pass?: readonly (readonly [string, string])[];
  /** The initiator of an upload. */
  readonly by?: string;
}

/** Returns undefined if the record has none of these fields. */
export function encodeExtras(extras: Extras): EncodedExtras | undefined {
  const { tags, lock, isVersioned, passthrough } = extras;
  if ((tags ?? lock ?? isVersioned ?? passthrough) === undefined) return undefined;
  return {
    ...(isVersioned === true ? { v: 1 } : {}),
    ...(tags === undefined ? {} : { tags: [...tags] }),
    ...(lock?.retention === undefined ? {} : lock.retention),
    ...(lock?.legalHold === undefined ? {} : { hold: lock.legalHold ? 1 : 0 }),
    ...(passthrough === undefined ? {} : { pass: [...passthrough] }),
  };
}

const fieldNames = ["v", "tags", "mode", "until", "hold", "pass", "by"];

export function decodeExtras(encoded: EncodedExtras | undefined): Extras {
  if (encoded === undefined) return {};
  expectFields(encoded, (_, name) => fieldNames.includes(name));
  const { v, tags, pass } = encoded;
  const lock = decodeLock(encoded);
  return {
    ...(v === 1 ? { isVersioned: true } : {}),
    ...(tags === undefined ? {} : { tags: decodePairs(tags) }),
    ...(lock === undefined ? {} : { lock }),
    ...(pass === undefined ? {} : { passthrough: decodePairs(pass) }),
  };
}

function decodePairs(pairs: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  expectList(pairs);
  for (const [name, value] of pairs) for (const text of [name, value]) expectText(text);
  return new Map(pairs);
}

function decodeLock({ mode, until, hold }: EncodedExtras): ObjectLock | undefined {
  if (hold !== undefined) expectMember(hold, [0, 1]);
  const held = hold === undefined ? {} : { legalHold: hold === 1 };
  if (mode === undefined) return hold === undefined ? undefined : held;
  expectMember(mode, ["governance", "compliance"]);
  expectTime(until);
  return { retention: { mode, until: until! }, ...held };
}
