// Blobs in a shared directory: <directory>/<bucket id>/<first 2 digits of the name>/<name>. Node
// cannot cancel file system calls, so calls block while a mount hangs.
import { randomBytes } from "node:crypto";
import { type FileHandle, open, opendir, readFile, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { StoreError } from "../../../model/errors.ts";
import type { BlobBackend, BlobLocation } from "../backend.ts";
import { damaged, plainSize, storedSize } from "../block-format.ts";
import { createChunkPool } from "../chunk-pool.ts";
import { type MarkerMode, openMarker, type StoredMarker } from "../marker.ts";
import { directoryError, errorCode, isMissing } from "./errors.ts";
import { readBlocks, writeBlocks } from "./file.ts";
import { createFolderManager, syncDirectory } from "./folders.ts";

const markerName = "store-shelf";

export async function openDirectoryBackend({
  directory,
  marker,
}: {
  directory: string;
  marker: MarkerMode;
}): Promise<BlobBackend> {
  const storedMarker = directoryMarker(directory);
  const id = await openMarker(storedMarker, marker, directory);
  const chunkPool = createChunkPool();
  const folders = createFolderManager(directory, checkMarker);

  /** Called when a file is missing. Throws if the directory is not mounted or of another store. */
  async function checkMarker(): Promise<void> {
    if ((await openMarker(storedMarker, "expect", directory)) === id) return;
    throw new StoreError("ServiceUnavailable", {
      detail: `${directory} holds the bytes of another store: check what is mounted there.`,
    });
  }

  const blobFolder = ({ bucket, name }: BlobLocation) => join(bucket, name.slice(0, 2));
  const blobPath = (location: BlobLocation) => join(directory, blobFolder(location), location.name);

  async function removeFile(location: BlobLocation): Promise<void> {
    try {
      await unlink(blobPath(location));
    } catch (error) {
      if (!isMissing(error)) throw directoryError(error, directory, "written");
      await checkMarker();
    }
  }

  return {
    id,

    async write(location, chunks) {
      try {
        // No temporary name: on CephFS, a renamed file takes seconds to appear on another machine.
        const file = await folders.withFolder(blobFolder(location), () =>
          open(blobPath(location), "wx", 0o600),
        );
        const size = await writeBlocks(file, location.name, chunks);
        await folders.sync(blobFolder(location));
        return { bucket: location.bucket, name: location.name, size, pieceBlocks: 0 };
      } catch (error) {
        throw directoryError(error, directory, "written");
      }
    },

    async *read(blob, range, into) {
      if (range.length === 0) return;
      const endRead = chunkPool.beginRead();
      let file: FileHandle | undefined;
      try {
        file = await open(blobPath(blob), "r");
        yield* readBlocks(file, blob, { range, into, chunkPool });
      } catch (error) {
        if (file !== undefined || !isMissing(error)) throw directoryError(error, directory, "read");
        await checkMarker();
        throw damaged(`blob ${blob.name} is missing`);
      } finally {
        endRead();
        await file?.close();
      }
    },

    release: chunkPool.release,

    async has(blob) {
      try {
        return (await stat(blobPath(blob))).size === storedSize(blob.size);
      } catch (error) {
        if (!isMissing(error)) throw directoryError(error, directory, "read");
        await checkMarker();
        return false;
      }
    },

    remove: removeFile,
    removeLeftovers: removeFile,

    async *all(bucket) {
      try {
        for await (const folder of listNames(join(directory, bucket), folderPattern)) {
          for await (const name of listNames(join(directory, bucket, folder), blobPattern)) {
            const found = await stat(join(directory, bucket, folder, name)).catch(undefinedIfMissing);
            if (found !== undefined) yield { bucket, name, size: plainSize(found.size), pieceBlocks: 0 };
          }
        }
      } catch (error) {
        throw directoryError(error, directory, "read");
      }
      // An unmounted directory would also give a short listing, so check the marker.
      await checkMarker();
    },

    async removeBucket(bucket) {
      try {
        for await (const folder of listNames(join(directory, bucket), folderPattern))
          await rmdir(join(directory, bucket, folder));
        await rmdir(join(directory, bucket)).catch(undefinedIfMissing);
      } catch (error) {
        // A folder that is not empty stays.
        if (errorCode(error) !== "ENOTEMPTY") throw directoryError(error, directory, "written");
      } finally {
        folders.evictBucket(bucket);
      }
    },

    close: async () => {},
  };
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

const folderPattern = /^[0-9a-f]{2}$/;
/** Matches the names of blobs, but not of files that the file system itself creates. */
const blobPattern = /^[0-9a-f]{32}$/;

/** Lists matching names in no particular order. A missing folder is treated as empty. */
async function* listNames(folder: string, pattern: RegExp): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(undefinedIfMissing);
  if (entries === undefined) return;
  for await (const { name } of entries) if (pattern.test(name)) yield name;
}

function directoryMarker(directory: string): StoredMarker {
  const path = join(directory, markerName);
  return {
    async read() {
      try {
        return await readFile(path, "utf8");
      } catch (error) {
        if (!isMissing(error)) throw directoryError(error, directory, "read");
        await checkDirectory(directory);
        return undefined;
      }
    },
    async make() {
      try {
        const file = await open(path, "wx", 0o600);
        try {
          await file.writeFile(`${randomBytes(16).toString("hex")}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
        await syncDirectory(directory);
      } catch (error) {
        if (errorCode(error) !== "EEXIST") throw directoryError(error, directory, "written");
      }
    },
  };
}

/** Throws if the directory is missing. It is never created: it may be an unmounted mount point. */
async function checkDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch(undefinedIfMissing);
  if (found?.isDirectory()) return;
  throw new StoreError("ServiceUnavailable", {
    detail: `The blob directory ${directory} does not exist: mount it, or create it once.`,
  });
}
