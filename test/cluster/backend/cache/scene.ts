// Setup of tests of the body cache: a blob directory, a folder for the cache, and counted reads.
import { readdirSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import type { BackendBlob, BlobBackend } from "../../../../src/cluster/backend/backend.ts";
import {
  type BodyCacheOptions,
  type CachedBackend,
  createCachedBackend,
} from "../../../../src/cluster/backend/cache/cached-backend.ts";
import { createCacheMetrics } from "../../../../src/cluster/backend/cache/metrics.ts";
import { openBlobBackend } from "../../../../src/cluster/open-backend.ts";
import { createMetrics } from "../../../../src/metrics/metrics.ts";
import { temporaryDirectory } from "../../../support/stores.ts";

export const MiB = 1024 * 1024;
export const extent = MiB;

export interface CacheScene {
  /** URL of the blob directory. */
  readonly url: string;
  /** The folder of the cache. */
  readonly directory: string;
  readonly backend: BlobBackend;
  /** Ranges that were read from the blob directory. */
  readonly backendReads: string[];
  readonly warnings: string[];
  /** Opens the cache again, as another process or after a restart. */
  open(options?: Partial<BodyCacheOptions>): CachedBackend;
  /** Returns a metric, such as `store_body_cache_lookups_total hit`. */
  metric(name: string): number;
  /** Paths of the cached files. */
  files(): string[];
  /** Path of a blob in the blob directory. */
  blobFile(blob: BackendBlob): string;
}

export async function openCacheScene(t: TestContext, cacheFolder?: string): Promise<CacheScene> {
  const parent = await temporaryDirectory(t);
  const blobs = join(parent, "blobs");
  await mkdir(blobs);
  const directory = cacheFolder ?? join(parent, "cache");
  const url = pathToFileURL(blobs).href;
  const stored = await openBlobBackend(url, { marker: "make" });
  const backendReads: string[] = [];
  const backend: BlobBackend = {
    ...stored,
    read(blob, range, into) {
      backendReads.push(`${blob.name} ${range.offset} ${range.length}`);
      return stored.read(blob, range, into);
    },
  };
  const metrics = createMetrics();
  const cacheMetrics = createCacheMetrics(metrics);
  const warnings: string[] = [];
  return {
    ...{ url, directory, backend, backendReads, warnings },
    open(options = {}) {
      const warn = (line: string) => warnings.push(line);
      const given = { directory, size: 1024 * MiB, metrics: cacheMetrics, warn, ...options };
      const cached = createCachedBackend(backend, given);
      t.after(() => cached.close());
      return cached;
    },
    metric(name) {
      const [family, label] = name.split(" ");
      const found = metrics.snapshot().find((one) => one.name === family);
      const series = found?.series.find(([labels]) => (labels[0] ?? undefined) === label);
      return series?.[1][0] ?? 0;
    },
    files: () => filesIn(directory),
    blobFile: ({ bucket, name }) => join(blobs, bucket, name.slice(0, 2), name),
  };
}

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

export function bytesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}
