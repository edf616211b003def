// Rotation of the master key: seals every data key with a new master key, online. A document keeps
// the progress, so that an interrupted rotation continues. The bytes of objects are not touched.
import { StoreError } from "../../model/errors.ts";
import type { VersionPosition } from "../../model/listing.ts";
import type { ObjectRecord, StoreEncryption } from "../../model/object.ts";
import { isCount, isFields, isText } from "../../model/shape.ts";
import { parseDocument } from "../../model/stored-document.ts";
import { isDeleteMarker } from "../../model/version.ts";
import type { Context } from "../context.ts";
import { currentMasterKey, requireMasterKeys, resealDataKey } from "../encryption/data-keys.ts";
import type { RotationProgress, RotationReport, WalkOptions } from "../encryption-operations.ts";
import type { Check, Mutation } from "../records.ts";
import { requireBucket } from "../write-path.ts";
import {
  activeUploads,
  bucketNames,
  type EncryptionPage,
  type EncryptionPosition,
  unlessDeleted,
  walkVersions,
} from "./encryption-walk.ts";

const kind = "encryption";
const name = "rotation";
/** A retired key is kept at least this long, for writers that still seal with it. */
const graceMilliseconds = 60_000;

/** Longer than any key. */
const maxKeyLength = 4096;

interface StoredRotation extends RotationProgress {
  readonly position?: EncryptionPosition | undefined;
}

interface Rotation {
  state: StoredRotation;
  revision: number;
}

export async function readRotation({ records }: Context): Promise<RotationProgress | undefined> {
  const document = await records.documents.get(kind, name);
  return document && parseRotation(document.text);
}

export async function rotate(context: Context, options: WalkOptions): Promise<RotationReport> {
  const masterKeys = requireMasterKeys(context);
  const { rotation, isResumed } = await beginRotation(context);
  const { to, started } = rotation.state;
  // Restored versions and completed uploads copy sealed keys: repeat until nothing is found.
  for (;;) {
    const before = rotation.state.rewrapped;
    const isWhole = rotation.state.position === undefined;
    await rewrapAll(context, rotation, options);
    options.signal?.throwIfAborted();
    if (isWhole && rotation.state.rewrapped === before) break;
  }
  await masterKeys.retireOthers(started - graceMilliseconds);
  await context.records.documents.delete(kind, name);
  return { masterKey: to, rewrapped: rotation.state.rewrapped, isResumed };
}

async function beginRotation(context: Context): Promise<{ rotation: Rotation; isResumed: boolean }> {
  const { documents } = context.records;
  const found = await documents.get(kind, name);
  if (found !== undefined) {
    return { rotation: { state: parseRotation(found.text), revision: found.revision }, isResumed: true };
  }
  const to = await requireMasterKeys(context).add();
  const state: StoredRotation = { to, started: context.now(), rewrapped: 0 };
  await documents.put(kind, name, JSON.stringify(state), undefined);
  const stored = await documents.get(kind, name);
  if (stored === undefined) throw otherRotation();
  return { rotation: { state: parseRotation(stored.text), revision: stored.revision }, isResumed: false };
}

function parseRotation(text: string): StoredRotation {
  return parseDocument(text, "The progress of the rotation", isRotation);
}

function isRotation(value: unknown): value is StoredRotation {
  if (!isFields(value)) return false;
  const { to, started, rewrapped, position } = value;
  const isPosition =
    position === undefined ||
    (isFields(position) &&
      isText(position.bucket, 255) &&
      (position.after === undefined || isVersionPosition(position.after)));
  return isText(to, 255) && Number.isFinite(started) && isCount(rewrapped) && isPosition;
}

function isVersionPosition(value: unknown): value is VersionPosition {
  if (!isFields(value)) return false;
  const { kind, value: key, version } = value;
  const isKind = kind === "start" || kind === "key" || kind === "prefix";
  return isKind && isText(key, maxKeyLength) && (version === undefined || isText(version, 255));
}

function otherRotation(): StoreError {
  return new StoreError("InvalidBucketState", {
    detail: "Another process is rotating the master key: wait until it has finished.",
  });
}

/** Saves the progress. Throws if another process has continued the same rotation. */
async function save(context: Context, rotation: Rotation, state: StoredRotation): Promise<void> {
  const { documents } = context.records;
  const outcome = await documents.put(kind, name, JSON.stringify(state), rotation.revision);
  const stored = outcome === "committed" ? await documents.get(kind, name) : undefined;
  if (stored === undefined) throw otherRotation();
  rotation.state = state;
  rotation.revision = stored.revision;
}

async function rewrapAll(context: Context, rotation: Rotation, options: WalkOptions): Promise<void> {
  let examined = 0;
  const { position } = rotation.state;
  // Uploads first: one that is completed later gives its object the new sealed key.
  if (position === undefined) {
    for (const bucket of await bucketNames(context)) {
      const changed = await rewrapUploads(context, bucket);
      rotation.state = { ...rotation.state, rewrapped: rotation.state.rewrapped + changed };
    }
  }
  for await (const page of walkVersions(context, position)) {
    const changed = await rewrapPage(context, page);
    examined += page.versions.length;
    const rewrapped = rotation.state.rewrapped + changed;
    await save(context, rotation, { ...rotation.state, rewrapped, position: page.position });
    options.onProgress?.({ bucket: page.bucket, examined, changed: rewrapped });
    if (options.signal?.aborted === true) return;
  }
  await save(context, rotation, { ...rotation.state, position: undefined });
}

async function rewrapUploads(context: Context, bucket: string): Promise<number> {
  let changed = 0;
  for (const { key, id } of await activeUploads(context, bucket)) {
    for (;;) {
      const stored = await context.records.upload(bucket, key, id);
      const sealed = stored?.record.state === "active" ? stored.record.encryption : undefined;
      if (stored === undefined || sealed === undefined) break;
      const encryption = await resealed(
        context,
        bucket,
        key,
        sealed.masterKey === undefined ? undefined : sealed,
      );
      if (encryption === undefined) break;
      const outcome = await context.records.commit(bucket, {
        checks: [{ kind: "upload", key, id, revision: stored.revision }],
        mutations: [{ kind: "put upload", record: { ...stored.record, encryption } }],
      });
      if (outcome === "conflict") continue;
      changed++;
      break;
    }
  }
  return changed;
}

/** Seals the data keys of a page in one commit; if one version has changed, one by one. */
async function rewrapPage(context: Context, { bucket, versions }: EncryptionPage): Promise<number> {
  const { id } = await currentMasterKey(context);
  const old = versions.filter(({ encryption }) => isSealedByOther(encryption, id));
  if (old.length === 0) return 0;
  const done = await unlessDeleted(context, bucket, async () => {
    if ((await rewrap(context, bucket, old)) === "committed") return old.length;
    let changed = 0;
    for (const version of old) changed += await rewrapOne(context, bucket, version);
    return changed;
  });
  return done ?? 0;
}

function isSealedByOther(encryption: ObjectRecord["encryption"], current: string): boolean {
  return encryption?.masterKey !== undefined && encryption.masterKey !== current;
}

async function rewrapOne(context: Context, bucket: string, { key, version }: ObjectRecord): Promise<number> {
  for (;;) {
    const found = await context.records.version(bucket, key, version);
    if (found === undefined || isDeleteMarker(found.version)) return 0;
    const { id } = await currentMasterKey(context);
    if (!isSealedByOther(found.version.encryption, id)) return 0;
    if ((await rewrap(context, bucket, [found.version])) === "committed") return 1;
  }
}

async function rewrap(context: Context, bucket: string, versions: readonly ObjectRecord[]) {
  const { settings } = await requireBucket(context, bucket);
  const checks: Check[] = [];
  const mutations: Mutation[] = [];
  for (const version of versions) {
    const stored = await context.records.version(bucket, version.key, version.version);
    const encryption = await resealed(context, bucket, version.key, version.encryption);
    if (stored?.body === undefined || encryption === undefined) return "conflict";
    checks.push({ kind: "version", version });
    const record = { ...version, encryption };
    mutations.push({ kind: "restate object", record, body: stored.body });
  }
  return context.records.commit(bucket, { checks, mutations, protection: settings });
}

/** Returns undefined if the current master key seals the data key already. */
async function resealed(
  context: Context,
  bucket: string,
  key: string,
  encryption: ObjectRecord["encryption"],
): Promise<StoreEncryption | undefined> {
  const master = await currentMasterKey(context);
  if (encryption?.masterKey === undefined || encryption.masterKey === master.id) return undefined;
  return resealDataKey(context, encryption, { bucket, key }, master);
}
