// Encodes versions: objects as in record-codec.ts, and delete markers.
import { StoreError } from "../../model/errors.ts";
import { type DeleteMarker, isDeleteMarker, type Version } from "../../model/version.ts";
import { decodeObject, encodeObject } from "./record-codec.ts";
import { expectMember, expectText, expectTime, readStored } from "./validate.ts";

type EncodedMarker = readonly [
  format: number,
  key: string,
  version: string,
  uploaded: number,
  kind: "deleted",
  isVersioned: 0 | 1,
];

const format = 1;

export function encodeVersion(version: Version): string {
  if (!isDeleteMarker(version)) return encodeObject(version);
  const { key, uploaded, isVersioned } = version;
  const encoded = [format, key, version.version, uploaded, "deleted", isVersioned === true ? 1 : 0] as const;
  return JSON.stringify(encoded satisfies EncodedMarker);
}

/** Decodes a delete marker if `isMarker` is true, otherwise an object. */
export function decodeVersion(text: string, isMarker: boolean): Version {
  return isMarker ? readStored("a delete marker", () => readMarker(text)) : decodeObject(text);
}

function readMarker(text: string): DeleteMarker {
  const [storedFormat, key, version, uploaded, kind, isVersioned] = JSON.parse(text) as EncodedMarker;
  if (storedFormat !== format) throw new StoreError("Damaged");
  expectText(key);
  expectText(version);
  expectTime(uploaded);
  expectMember(kind, ["deleted"]);
  expectMember(isVersioned, [0, 1]);
  const marker = { isDeleteMarker: true, key, version, uploaded } as const;
  return isVersioned === 1 ? { ...marker, isVersioned: true } : marker;
}
