// Blobs in a directory that all machines mount: <directory>/<bucket id>/<first 2 of the name>/<name>. A file is made
// under its final name, never renamed: on CephFS another machine waits seconds for a name that was moved.
// A mount that hangs cannot be given up on from within Node: its calls wait in the system, and nothing cancels them.
import { randomBytes } from "node:crypto";
import { type FileHandle, open, opendir, readFile, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { StoreError } from "../../../model/errors.ts";
import type { Shelf, ShelfPlace } from "../backend.ts";
import { damaged, plainSize, storedSize } from "../block-format.ts";
import { createChunkRoom } from "../chunk-pool.ts";
import { type Marker, type OpenedMarker, openMarker } from "../marker.ts";
import { directoryError, errorCode, isMissing } from "./errors.ts";
import { readBlocks, writeBlocks } from "./file.ts";
import { createFolderKeeper, syncDirectory } from "./folders.ts";

export interface DirectoryShelfOptions {
  readonly directory: string;
  readonly marker: Marker;
}

const markerName = "store-shelf";

export async function openDirectoryShelf({ directory, marker }: DirectoryShelfOptions): Promise<Shelf> {
  const opened = directoryMarker(directory);
  const id = await openMarker(opened, marker, directory);
  const chunkRoom = createChunkRoom();
  const folders = createFolderKeeper(directory, checkThere);

  /** Where something is missing: in the shelf, or is the shelf itself away? */
  async function checkThere(): Promise<void> {
    if ((await openMarker(opened, "expect", directory)) === id) return;
    throw new StoreError("ServiceUnavailable", {
      detail: `${directory} holds the bytes of another store: check what is mounted there.`,
    });
  }

  const folderOf = ({ bucket, name }: ShelfPlace) => join(bucket, name.slice(0, 2));
  const pathOf = (place: ShelfPlace) => join(directory, folderOf(place), place.name);

  async function removeFile(place: ShelfPlace): Promise<void> {
    try {
      await unlink(pathOf(place));
    } catch (error) {
      if (!isMissing(error)) throw directoryError(error, directory, "written");
      await checkThere();
    }
  }

  return {
    id,

    async write(place, chunks) {
      try {
        const file = await folders.within(folderOf(place), () => open(pathOf(place), "wx", 0o600));
        const size = await writeBlocks(file, place.name, chunks);
        await folders.sync(folderOf(place));
        return { bucket: place.bucket, name: place.name, size, pieceBlocks: 0 };
      } catch (error) {
        throw directoryError(error, directory, "written");
      }
    },

    async *read(blob, range, into) {
      if (range.length === 0) return;
      const leave = chunkRoom.enter();
      let file: FileHandle | undefined;
      try {
        file = await open(pathOf(blob), "r");
        yield* readBlocks(file, blob, { range, into, chunkRoom });
      } catch (error) {
        if (file !== undefined || !isMissing(error)) throw directoryError(error, directory, "read");
        await checkThere();
        throw damaged(`blob ${blob.name} is missing`);
      } finally {
        leave();
        await file?.close();
      }
    },

    release: chunkRoom.release,

    async has(blob) {
      try {
        return (await stat(pathOf(blob))).size === storedSize(blob.size);
      } catch (error) {
        if (!isMissing(error)) throw directoryError(error, directory, "read");
        await checkThere();
        return false;
      }
    },

    remove: removeFile,
    removeRemains: removeFile,

    async *all(bucket) {
      try {
        for await (const folder of namesIn(join(directory, bucket), folderName)) {
          for await (const name of namesIn(join(directory, bucket, folder), blobName)) {
            const found = await stat(join(directory, bucket, folder, name)).catch(undefinedIfMissing);
            if (found !== undefined) yield { bucket, name, size: plainSize(found.size), pieceBlocks: 0 };
          }
        }
      } catch (error) {
        throw directoryError(error, directory, "read");
      }
      // Nothing was found, or the rest was not, because the directory went away.
      await checkThere();
    },

    async removeBucket(bucket) {
      try {
        for await (const folder of namesIn(join(directory, bucket), folderName))
          await rmdir(join(directory, bucket, folder));
        await rmdir(join(directory, bucket)).catch(undefinedIfMissing);
      } catch (error) {
        // Something is left in it after all.
        if (errorCode(error) !== "ENOTEMPTY") throw directoryError(error, directory, "written");
      } finally {
        folders.forget(bucket);
      }
    },

    close: async () => {},
  };
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

const folderName = /^[0-9a-f]{2}$/;
/** File systems have files of their own here and there. */
const blobName = /^[0-9a-f]{32}$/;

/** As they are found, in no order; none where there is no such folder. */
async function* namesIn(folder: string, form: RegExp): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(undefinedIfMissing);
  if (entries === undefined) return;
  for await (const { name } of entries) if (form.test(name)) yield name;
}

function directoryMarker(directory: string): OpenedMarker {
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

/** It is never made: what is missing may be a mount that is away. */
async function checkDirectory(directory: string): Promise<void> {
  const found = await stat(directory).catch(undefinedIfMissing);
  if (found?.isDirectory()) return;
  throw new StoreError("ServiceUnavailable", {
    detail: `The directory ${directory} that keeps the bytes must exist and does not: mount it, or make it once.`,
  });
}
