// Lists the versions of objects for a script: objects and delete markers.
import type { Engine } from "../engine/engine.ts";
import type { ListedVersion } from "../engine/records.ts";
import { attachAction } from "../model/errors.ts";
import {
  decodeVersionCursor,
  encodeVersionCursor,
  laterPosition,
  type VersionPosition,
} from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import { type DeleteMarker, isDeleteMarker } from "../model/version.ts";
import type * as script from "../types.ts";
import { type Fields, limitArgument, stringField } from "./arguments.ts";
import { cursorField } from "./bucket-options.ts";
import { type IncludedMetadata, StoreObject } from "./object.ts";
import { timeArgument } from "./version-arguments.ts";

export class StoreObjectVersion extends StoreObject implements script.StoreObjectVersion {
  readonly isDeleteMarker = false;
  readonly isCurrent: boolean;

  constructor(record: ObjectRecord, isCurrent: boolean, included: IncludedMetadata) {
    super(record, undefined, included);
    this.isCurrent = isCurrent;
  }
}

export class StoreDeleteMarker implements script.StoreDeleteMarker {
  readonly key: string;
  readonly version: string;
  readonly uploaded: Date;
  readonly isDeleteMarker = true;
  readonly isCurrent: boolean;

  constructor({ key, version, uploaded }: DeleteMarker, isCurrent: boolean) {
    this.key = key;
    this.version = version;
    this.uploaded = new Date(uploaded);
    this.isCurrent = isCurrent;
  }
}

export interface ListedVersions {
  readonly objects: (StoreObjectVersion | StoreDeleteMarker)[];
  readonly prefixes: readonly string[];
  readonly cursor: string | undefined;
}

export async function listVersions(
  engine: Engine,
  bucket: string,
  given: Fields,
  included: IncludedMetadata,
): Promise<ListedVersions> {
  if (timeArgument(given) !== undefined) {
    throw new TypeError('"versions" and "at" cannot be combined: pass one of them.');
  }
  const { versions, prefixes, next } = await engine.listVersions(bucket, {
    prefix: stringField(given, "prefix"),
    delimiter: stringField(given, "delimiter"),
    after: startPosition(given),
    limit: limitArgument(given),
  });
  return {
    objects: versions.map((listed) => toScript(listed, included)),
    prefixes,
    cursor: next === undefined ? undefined : encodeVersionCursor(next),
  };
}

/** Of `startAfter` and the cursor, the later position applies. */
function startPosition(given: Fields): VersionPosition | undefined {
  const startAfter = stringField(given, "startAfter");
  const cursor = cursorField(given);
  const after = cursor === undefined ? undefined : decodeCursorOfList(cursor);
  return laterPosition(startAfter === undefined ? undefined : { kind: "key", value: startAfter }, after);
}

function decodeCursorOfList(cursor: string): VersionPosition {
  try {
    return decodeVersionCursor(cursor);
  } catch (error) {
    throw attachAction("list", error);
  }
}

function toScript({ version, isCurrent }: ListedVersion, included: IncludedMetadata) {
  return isDeleteMarker(version)
    ? new StoreDeleteMarker(version, isCurrent)
    : new StoreObjectVersion(version, isCurrent, included);
}
