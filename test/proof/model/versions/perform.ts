// Performs an operation on versions, locks and tags on one side of the model tests. Scripts have no
// such operations, so it calls the engine.
import { encodeVersion } from "../../../../src/engine/codec/version-codec.ts";
import type { DescribeOutcome, Engine, GetOutcome } from "../../../../src/engine/engine.ts";
import type { ListedVersion } from "../../../../src/engine/records.ts";
import type { VersionDeletion } from "../../../../src/engine/versions/versions.ts";
import { settingNames } from "../../../../src/model/bucket.ts";
import { isDeleteMarker } from "../../../../src/model/version.ts";
import { bytesOf, digestOf } from "../../../support/bodies.ts";
import { collect } from "../../../support/bytes.ts";
import { bucketName } from "../operation.ts";
import { keyOf } from "../resolve.ts";
import { bodyValue } from "../s3.ts";
import type {
  ListAt,
  ListVersions,
  PutVersion,
  ReadVersion,
  TagPairs,
  VersionOperation,
} from "./operation.ts";

export async function performVersions(engine: Engine, operation: VersionOperation): Promise<unknown> {
  switch (operation.do) {
    case "set versioning":
      return engine.changeSettings(bucketName, { versioning: operation.versioning });
    case "set object lock":
      return engine.changeSettings(bucketName, { objectLock: operation.objectLock });
    case "set lock rules":
      return engine.changeSettings(bucketName, { lockRules: operation.rules ?? undefined });
    case "set version lifecycle":
      return engine.changeSettings(bucketName, { lifecycle: operation.rules });
    case "read version":
      return readVersion(engine, operation);
    case "put version":
      return putVersion(engine, operation);
    case "list at":
      return listAt(engine, operation);
    case "list versions":
      return listVersions(engine, operation);
    case "delete versions": {
      const { targets, bypassGovernance } = operation;
      return (await engine.deleteVersions(bucketName, targets, { bypassGovernance })).map(deletionShown);
    }
    case "set tags": {
      const { key, version, tags } = operation;
      return encodeVersion(await engine.setTags(bucketName, key, toTags(tags), { version }));
    }
    case "set retention": {
      const { key, version, retention, bypassGovernance } = operation;
      const target = { version, bypassGovernance };
      return encodeVersion(await engine.setRetention(bucketName, key, retention ?? undefined, target));
    }
    case "set legal hold": {
      const { key, version, isHeld } = operation;
      return encodeVersion(await engine.setLegalHold(bucketName, key, isHeld, { version }));
    }
    case "restore":
      return engine.restorePage(bucketName, operation);
  }
}

export function toTags(pairs: TagPairs): ReadonlyMap<string, string> {
  return new Map(pairs);
}

export function customerKeyOf(ssecKey: string | undefined): Buffer | undefined {
  return ssecKey === undefined ? undefined : Buffer.from(ssecKey, "hex");
}

async function readVersion(engine: Engine, read: ReadVersion): Promise<unknown> {
  const { key, by, version, time, range, ssecKey } = read;
  const options = { version, time, customerKey: customerKeyOf(ssecKey) };
  if (by === "head") {
    const found = await engine.head(bucketName, key, options);
    return found === undefined ? null : encodeVersion(found);
  }
  if (by === "describe") return outcomeShown(await engine.describe(bucketName, key, options));
  const found = await engine.get(bucketName, key, { ...options, range });
  if (found.outcome !== "found") return outcomeShown(found);
  const bytes = await collect(found.bytes.chunks());
  const { etag } = found.record;
  return { ...outcomeShown(found), etag, size: bytes.length, digest: digestOf(bytes) };
}

function outcomeShown(outcome: DescribeOutcome | GetOutcome): object {
  if (outcome.outcome === "missing")
    return { outcome: "missing", marker: outcome.marker && encodeVersion(outcome.marker) };
  const { record } = outcome;
  if (outcome.outcome === "refused") return { outcome: "refused", record: encodeVersion(record) };
  const parts = outcome.parts?.map(({ number, size }) => [number, size]);
  return { outcome: "found", record: encodeVersion(record), parts };
}

async function putVersion(engine: Engine, { key, body, tags, lock, ssecKey }: PutVersion): Promise<unknown> {
  const put = await engine.put(bucketName, key, bytesOf("", bodyValue(body)), {
    tags: tags.length === 0 ? undefined : toTags(tags),
    lock: lock ?? undefined,
    customerKey: customerKeyOf(ssecKey),
  });
  if (put.outcome === "refused") return { refused: put.clause };
  return { etag: put.record.etag, record: encodeVersion(put.record) };
}

async function listAt(engine: Engine, { do: _, ...options }: ListAt): Promise<unknown> {
  const { objects, prefixes, cursor } = await engine.list(bucketName, options);
  return { objects: objects.map(encodeVersion), prefixes, cursor };
}

async function listVersions(engine: Engine, { do: _, ...options }: ListVersions): Promise<unknown> {
  const { versions, prefixes, next } = await engine.listVersions(bucketName, options);
  return { versions: versions.map(versionShown), prefixes, next };
}

function versionShown({ version, isCurrent, until }: ListedVersion): unknown {
  return [encodeVersion(version), isCurrent, String(until)];
}

function deletionShown(deletion: VersionDeletion): unknown {
  return deletion.outcome === "deleted"
    ? { outcome: "deleted", version: encodeVersion(deletion.version) }
    : deletion;
}

/** Yields every version of the bucket, by pages. */
export async function* everyVersion(engine: Engine): AsyncGenerator<ListedVersion> {
  let next: ListVersions["after"];
  do {
    const page = await engine.listVersions(bucketName, { after: next });
    yield* page.versions;
    next = page.next;
  } while (next !== undefined);
}

/** Returns all versions with their bytes, and the settings of the bucket. */
export async function versionSnapshot(engine: Engine): Promise<unknown> {
  const { settings } = (await engine.bucket(bucketName))!;
  const shown: unknown[] = [];
  for await (const listed of everyVersion(engine)) {
    const { version } = listed;
    if (isDeleteMarker(version)) shown.push(versionShown(listed));
    else shown.push([versionShown(listed), await digestOfVersion(engine, listed)]);
  }
  const inOrder = settingNames.map((name) => [name, settings[name]]);
  return { settings: inOrder, versions: shown };
}

async function digestOfVersion(engine: Engine, { version }: ListedVersion): Promise<string> {
  if (isDeleteMarker(version)) return "";
  const customerKey = customerKeyOf(keyOf(version));
  const found = await engine.get(bucketName, version.key, { version: version.version, customerKey });
  if (found.outcome !== "found") throw new Error(`A listed version is ${found.outcome}.`);
  return digestOf(await collect(found.bytes.chunks()));
}
