// Sync into a folder: downloads objects as files.
import { CommandError } from "../../framework/command-error.ts";
import { verifiedChunks } from "../verified-chunks.ts";
import { createFolderWriter } from "./folder-writer.ts";
import { hasSameBytes, openLocalFile } from "./local-file.ts";
import type { SyncOptions, SyncPair, SyncTarget } from "./sync.ts";

export function createFolderTarget(options: SyncOptions): SyncTarget {
  const { engine, bucket, prefix, isDryRun, sizeOnly, onBytes } = options;
  const writer = createFolderWriter(options);

  async function isSame({ file, record }: SyncPair): Promise<boolean> {
    if (file === undefined || record === undefined) return false;
    const local = await openLocalFile(file.path);
    try {
      return await hasSameBytes({ engine, bucket, record, file: local, sizeOnly });
    } finally {
      await local.close();
    }
  }

  return {
    async copy(pair) {
      const { key, record } = pair;
      if (await isSame(pair)) return undefined;
      if (isDryRun) return record?.size ?? 0;
      const found = await engine.get(bucket, key);
      if (found.outcome !== "found") throw new CommandError("It was deleted during the sync.");
      try {
        const chunks = verifiedChunks(found.bytes.chunks(), found.record, onBytes);
        await writer.write(key.slice(prefix.length), chunks);
      } catch (error) {
        await found.bytes.cancel();
        throw error;
      }
      return found.record.size;
    },

    async remove(key) {
      if (!isDryRun) await writer.remove(key.slice(prefix.length));
    },

    prune: () => writer.prune(),
    finish: () => writer.finish(),
  };
}
