// The versions of each key of a bucket in memory: the current objects, and a history of the noncurrent
// versions and of all delete markers.
import type { Body, ListedVersion, ObjectWithBody, StoredVersion } from "../engine/records.ts";
import { compareKeys, type Key } from "../model/key.ts";
import type { VersionPosition } from "../model/listing.ts";
import type { Usage } from "../model/settings/quota.ts";
import { isDeleteMarker, isVersionNamed, nullVersion, type Version } from "../model/version.ts";
import type { SortedMap } from "./sorted-map.ts";

export interface HistoryEntry {
  readonly version: Version;
  readonly body: Body | undefined;
  /** Time at which the version was replaced. Infinity for a current delete marker. */
  readonly until: number;
}

export interface VersionedObjects {
  readonly objects: SortedMap<ObjectWithBody>;
  /** Entries of each key, oldest first. */
  readonly history: SortedMap<readonly HistoryEntry[]>;
}

/** Appends a version. Returns the body of the null version that it replaced, if any. */
export function appendVersion(
  versions: VersionedObjects,
  version: Version,
  body: Body | undefined,
): Body | undefined {
  const { objects } = versions;
  const { key, uploaded } = version;
  const replaced = version.isVersioned === true ? undefined : removeNullVersion(versions, key);
  const current = objects.get(key);
  let entries = entriesOf(versions, key);
  if (current !== undefined) {
    entries = [...entries, { version: current.record, body: current.body, until: uploaded }];
    objects.delete(key);
  } else {
    const newest = entries.at(-1);
    if (newest?.until === Number.POSITIVE_INFINITY)
      entries = [...entries.slice(0, -1), { ...newest, until: uploaded }];
  }
  if (isDeleteMarker(version))
    setEntries(versions, key, [...entries, { version, body: undefined, until: Number.POSITIVE_INFINITY }]);
  else {
    setEntries(versions, key, entries);
    objects.set(key, { record: version, body: body! });
  }
  return replaced;
}

function removeNullVersion(versions: VersionedObjects, key: Key): Body | undefined {
  const current = versions.objects.get(key);
  if (current !== undefined && current.record.isVersioned !== true) {
    versions.objects.delete(key);
    return current.body;
  }
  const entries = entriesOf(versions, key);
  const found = entries.find(({ version }) => version.isVersioned !== true);
  if (found === undefined) return undefined;
  setEntries(
    versions,
    key,
    entries.filter((entry) => entry !== found),
  );
  return found.body;
}

/** Removes a version; the next older version becomes current. Returns the body of the removed one. */
export function removeVersion(versions: VersionedObjects, key: Key, id: string): Body | undefined {
  const { objects } = versions;
  const current = objects.get(key);
  if (current?.record.version === id) {
    objects.delete(key);
    makeNewestCurrent(versions, key);
    return current.body;
  }
  const entries = entriesOf(versions, key);
  const found = entries.find(({ version }) => version.version === id);
  setEntries(
    versions,
    key,
    entries.filter((entry) => entry !== found),
  );
  if (current === undefined) makeNewestCurrent(versions, key);
  return found?.body;
}

function makeNewestCurrent(versions: VersionedObjects, key: Key): void {
  const entries = entriesOf(versions, key);
  const newest = entries.at(-1);
  if (newest === undefined) return;
  const older = entries.slice(0, -1);
  if (isDeleteMarker(newest.version)) {
    setEntries(versions, key, [...older, { ...newest, until: Number.POSITIVE_INFINITY }]);
    return;
  }
  setEntries(versions, key, older);
  versions.objects.set(key, { record: newest.version, body: newest.body! });
}

/** Replaces the record of a version. */
export function restateVersion(versions: VersionedObjects, { record, body }: ObjectWithBody): void {
  const { key, version } = record;
  if (versions.objects.get(key)?.record.version === version) {
    versions.objects.set(key, { record, body });
    return;
  }
  const entries = entriesOf(versions, key);
  setEntries(
    versions,
    key,
    entries.map((entry) => (entry.version.version === version ? { ...entry, version: record } : entry)),
  );
}

/** Replaces the record and the body of a version. Returns the earlier body. */
export function replaceBody(versions: VersionedObjects, replaced: ObjectWithBody): Body | undefined {
  const { record, body } = replaced;
  const { key, version } = record;
  const earlier = findVersion(versions, key, version)?.body;
  restateVersion(versions, replaced);
  const entries = entriesOf(versions, key);
  const isReplaced = (entry: HistoryEntry) => entry.version.version === version;
  setEntries(
    versions,
    key,
    entries.map((entry) => (isReplaced(entry) ? { ...entry, body } : entry)),
  );
  return earlier;
}

export function findVersion(versions: VersionedObjects, key: Key, id: string): StoredVersion | undefined {
  const current = versions.objects.get(key);
  if (current !== undefined && isVersionNamed(current.record, id))
    return { version: current.record, body: current.body, isCurrent: true };
  const { byId, nullEntry } = indexOf(entriesOf(versions, key));
  const found = byId.get(id) ?? (id === nullVersion ? nullEntry : undefined);
  if (found === undefined) return undefined;
  const { version, body, until } = found;
  return { version, body, isCurrent: until === Number.POSITIVE_INFINITY };
}

/** Returns the newest object written at or before the time, unless a delete marker hides it. */
export function findObjectAt(versions: VersionedObjects, key: Key, time: number): ObjectWithBody | undefined {
  const current = versions.objects.get(key);
  if (current !== undefined && current.record.uploaded <= time) return current;
  const entries = entriesOf(versions, key);
  const { earliestUploads } = indexOf(entries);
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (earliestUploads[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  const found = entries[low - 1];
  if (found === undefined || isDeleteMarker(found.version)) return undefined;
  return { record: found.version, body: found.body! };
}

export function newestVersion(versions: VersionedObjects, key: Key): Version | undefined {
  return versions.objects.get(key)?.record ?? entriesOf(versions, key).at(-1)?.version;
}

/** Finds entries of one key without reading all of them. */
interface EntryIndex {
  readonly byId: ReadonlyMap<string, HistoryEntry>;
  readonly nullEntry: HistoryEntry | undefined;
  /** The earliest upload of each entry and those after it: in their order, also if a clock went back. */
  readonly earliestUploads: readonly number[];
}

const indexes = new WeakMap<readonly HistoryEntry[], EntryIndex>();

/** Returns the index of a list, which is made once: a change of a key makes a new list. */
function indexOf(entries: readonly HistoryEntry[]): EntryIndex {
  const known = indexes.get(entries);
  if (known !== undefined) return known;
  const earliestUploads: number[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (let i = entries.length - 1; i >= 0; i--) {
    earliest = Math.min(earliest, entries[i]!.version.uploaded);
    earliestUploads[i] = earliest;
  }
  const index: EntryIndex = {
    byId: new Map(entries.map((entry) => [entry.version.version, entry])),
    nullEntry: entries.find(({ version }) => version.isVersioned !== true),
    earliestUploads,
  };
  indexes.set(entries, index);
  return index;
}

/** Returns all versions of a key, the newest first. */
export function versionsOf(versions: VersionedObjects, key: Key): readonly (StoredVersion & ListedVersion)[] {
  const current = versions.objects.get(key);
  const older = entriesOf(versions, key)
    .map(({ version, body, until }) => ({
      version,
      body,
      until,
      isCurrent: until === Number.POSITIVE_INFINITY,
    }))
    .reverse();
  if (current === undefined) return older;
  const { record: version, body } = current;
  return [{ version, body, until: Number.POSITIVE_INFINITY, isCurrent: true }, ...older];
}

/** Yields all versions after a position, in key order. */
export function* seekVersions(
  versions: VersionedObjects,
  prefix: string,
  after: VersionPosition,
): Iterable<ListedVersion> {
  for (const key of allKeys(versions)) {
    if (!key.startsWith(prefix) || isBefore(key, after)) continue;
    const found = versionsOf(versions, key);
    const isResumed = after.kind === "key" && key === after.value && after.version !== undefined;
    const at = isResumed ? found.findIndex(({ version }) => isVersionNamed(version, after.version!)) : -1;
    for (const { version, isCurrent, until } of found.slice(at + 1)) yield { version, isCurrent, until };
  }
}

function isBefore(key: Key, after: VersionPosition): boolean {
  if (after.kind === "prefix" && key.startsWith(after.value)) return true;
  const order = compareKeys(key, after.value);
  return order < 0 || (order === 0 && after.kind === "key" && after.version === undefined);
}

/** Returns the keys of all versions in order. */
export function allKeys({ objects, history }: VersionedObjects): Key[] {
  const keys = new Set<Key>();
  for (const map of [objects, history]) for (const [key] of map.from("")) keys.add(key);
  return [...keys].sort(compareKeys);
}

const none: readonly HistoryEntry[] = [];

function entriesOf({ history }: VersionedObjects, key: Key): readonly HistoryEntry[] {
  return history.get(key) ?? none;
}

function setEntries({ history }: VersionedObjects, key: Key, entries: readonly HistoryEntry[]): void {
  if (entries.length === 0) history.delete(key);
  else history.set(key, entries);
}

export function sizeOf(version: Version): number {
  return isDeleteMarker(version) ? 0 : version.size;
}

/** Counts all versions and delete markers. */
export function countUsage({ objects, history }: VersionedObjects): Usage {
  let bytes = 0;
  let count = 0;
  for (const [, { record }] of objects.from("")) {
    bytes += record.size;
    count++;
  }
  for (const [, entries] of history.from("")) {
    for (const { version } of entries) bytes += sizeOf(version);
    count += entries.length;
  }
  return { bytes, objects: count };
}
