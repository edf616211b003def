// Opens a store: creates an engine for a data directory, "memory:" or the two URLs of a cluster.
// Only the adapter of that location is loaded.
import process from "node:process";
import type { AuditLog, RecordAudit } from "./audit/audit-log.ts";
import { createDocumentAuditLog } from "./audit/document-audit-log.ts";
import { createAuditRecorder } from "./audit/recorder.ts";
import { type BucketOptions, bindBucket } from "./binding/bind.ts";
import { bindKvNamespace } from "./binding/kv-namespace.ts";
import type { Presigner } from "./binding/presign.ts";
import { unfinishedCopy } from "./copy/documents.ts";
import type { Blobs } from "./engine/blobs.ts";
import type { ExpiredObjects } from "./engine/context.ts";
import { createEngine } from "./engine/create.ts";
import type { Engine } from "./engine/engine.ts";
import type { NamespaceRecord } from "./engine/key-value/key-value.ts";
import type { SweepReport } from "./engine/maintenance/reports.ts";
import type { Documents, Records } from "./engine/records.ts";
import type { StoreKvNamespace } from "./kv-types.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import type { BucketRecord } from "./model/bucket.ts";
import { CopyError } from "./model/copy.ts";
import { checkLocation, type Location } from "./model/names/location.ts";
import { createEncryptionKeys } from "./secrets/encryption-keys.ts";
import { loadSecretKey } from "./secrets/master-key.ts";
import type * as script from "./types.ts";

export interface OpenOptions {
  /** Returns the current time in milliseconds since the epoch. Default: the system clock. */
  readonly now?: () => number;
  /** @internal Receives the store's metrics, for a server that publishes them. */
  readonly metrics?: Metrics;
  /** Maximum number of open multipart uploads per bucket. Default: 100,000. */
  readonly openUploads?: number | undefined;
  /** "always": encrypt every new object with the store's key. Default: as buckets and requests ask. */
  readonly encryption?: "always" | undefined;
  /**
   * The secret key that seals the store's encryption keys: 32 bytes, or 64 hex digits. Default: the
   * key file of the data directory. A cluster that encrypts needs this option.
   */
  readonly secretKey?: string | Uint8Array | (() => Uint8Array) | undefined;
  /** Endpoint of the S3 API and the access key for `bucket.presign`. */
  readonly presign?: Presigner;
}

export interface BucketInfo extends NamespaceInfo {
  /** Default storage class of the bucket's objects. */
  readonly storageClass: script.StoreStorageClass;
}

export interface NamespaceInfo {
  readonly name: string;
  readonly created: Date;
}

export interface Store {
  createBucket(
    name: string,
    options?: { readonly storageClass?: script.StoreStorageClass },
  ): Promise<BucketInfo>;
  /** Returns all buckets, sorted by name. */
  listBuckets(): Promise<BucketInfo[]>;
  /** Refused while the bucket contains objects. Active uploads are aborted. */
  deleteBucket(name: string): Promise<void>;
  /** Returns the binding of a bucket. Only using the binding checks whether the bucket exists. */
  bucket(name: string, options?: BucketOptions): script.StorePresigningBucket;
  createKvNamespace(name: string): Promise<NamespaceInfo>;
  /** Returns all namespaces, sorted by name. */
  listKvNamespaces(): Promise<NamespaceInfo[]>;
  /** Refused while the namespace contains keys that have not expired. */
  deleteKvNamespace(name: string): Promise<void>;
  /**
   * Returns the binding of a namespace. Only using the binding checks whether the namespace exists.
   */
  kv(namespace: string): StoreKvNamespace;
  /** Runs background maintenance now: aborts overdue uploads and removes garbage. */
  sweep(): Promise<SweepReport>;
  close(): Promise<void>;
}

/** The engine and the documents of a store, for its front ends. */
export interface OpenEngine {
  readonly engine: Engine;
  readonly documents: Documents;
  /**
   * Makes this process commit for other processes of the same directory, so that they share syncs.
   */
  commitForOthers(): Promise<void>;
  /** The log of administrative changes. */
  readonly auditLog: AuditLog;
}

export async function openEngine(location: Location, options: OpenOptions = {}): Promise<OpenEngine> {
  const { metrics = createMetrics() } = options;
  const ports = await openPorts(checkLocation(location), metrics);
  if (location !== "memory:") await refuseUnfinished(ports);
  const { records, blobs, commitForOthers } = ports;
  const auditLog = ports.auditLog ?? createDocumentAuditLog(records.documents);
  const audit = createAuditRecorder({
    log: auditLog,
    now: options.now ?? Date.now,
    warn: (line) => process.emitWarning(line, "StoreWarning"),
  });
  const engine = createEngine({
    records,
    blobs,
    onExpired: (expired) => recordExpired(audit.record, expired),
    now: options.now,
    metrics,
    openUploads: options.openUploads,
    encryption: {
      masterKeys: createEncryptionKeys(records.documents, secretKeyOf(location, options), options.now),
      encrypt: options.encryption,
    },
  });
  const close = async () => {
    await audit.flush();
    await engine.close();
  };
  return { engine: { ...engine, close }, documents: records.documents, commitForOthers, auditLog };
}

/** Records in the audit log what a run of lifecycle rules deleted in one bucket. */
async function recordExpired(record: RecordAudit, expired: ExpiredObjects): Promise<void> {
  const { bucket: subject, objects, versions, uploads } = expired;
  await record({
    act: "expire objects",
    subject,
    detail: `${objects} objects, ${versions} noncurrent versions, ${uploads} uploads`,
    count: objects + versions + uploads,
    by: { face: "server" },
  });
}

/** The key is loaded when something is encrypted or decrypted for the first time. */
function secretKeyOf(location: Location, { secretKey }: OpenOptions): () => Uint8Array {
  if (typeof secretKey === "function") return secretKey;
  if (secretKey instanceof Uint8Array) return () => secretKey;
  let loaded: Uint8Array | undefined;
  return () => {
    loaded ??= loadSecretKey(location, secretKey);
    return loaded;
  };
}

/** Opens a directory, a cluster `{ records: "postgres://…", blobs: "s3://…" }` or `"memory:"`. */
export async function openStore(location: Location, options: OpenOptions = {}): Promise<Store> {
  const { engine } = await openEngine(location, options);
  return {
    async createBucket(name, bucketOptions) {
      return bucketInfo(await engine.createBucket(name, bucketOptions));
    },
    async listBuckets() {
      return (await engine.listBuckets()).map(bucketInfo);
    },
    deleteBucket: (name) => engine.deleteBucket(name),
    bucket: (name, bucketOptions) => bindBucket(engine, name, { presign: options.presign, ...bucketOptions }),
    async createKvNamespace(name) {
      return namespaceInfo(await engine.kv.createNamespace(name));
    },
    async listKvNamespaces() {
      return (await engine.kv.listNamespaces()).map(namespaceInfo);
    },
    deleteKvNamespace: (name) => engine.kv.deleteNamespace(name),
    kv: (namespace) => bindKvNamespace(engine.kv, namespace),
    sweep: () => engine.sweep(),
    close: once(() => engine.close()),
  };
}

export interface Ports extends Pick<OpenEngine, "commitForOthers"> {
  readonly records: Records;
  readonly blobs: Blobs;
  /** Undefined if the audit log is stored in documents. */
  readonly auditLog?: AuditLog;
}

export async function openPorts(location: Location, metrics = createMetrics()): Promise<Ports> {
  if (typeof location !== "string") {
    const { openCluster } = await import("./cluster/open.ts");
    return openCluster(location, undefined, metrics);
  }
  if (location === "memory:") {
    const { createMemoryRecords } = await import("./memory/records.ts");
    const { createMemoryBlobs } = await import("./memory/blobs.ts");
    // Other processes cannot open a store in memory.
    return { records: createMemoryRecords(), blobs: createMemoryBlobs(), commitForOthers: async () => {} };
  }
  const { openLocal } = await import("./local/open.ts");
  return openLocal(location, undefined, metrics);
}

async function refuseUnfinished(ports: Ports): Promise<void> {
  const source = await unfinishedCopy(ports);
  if (source === undefined) return;
  await closePorts(ports);
  throw new CopyError(`This store is a copy of ${source} that was not finished.`, [
    "Run the same store copy again to resume it.",
  ]);
}

export async function closePorts({ records, blobs }: Ports): Promise<void> {
  await records.close();
  await blobs.close();
}

function bucketInfo({ name, created, storageClass }: BucketRecord): BucketInfo {
  return { name, created: new Date(created), storageClass };
}

function namespaceInfo({ name, created }: NamespaceRecord): NamespaceInfo {
  return { name, created: new Date(created) };
}

/** Returns a function that calls `close` once. Every call returns the promise of the first call. */
function once(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= close();
    return closing;
  };
}
