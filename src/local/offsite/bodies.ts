// Stores the bodies of a backup in a repository. A body never changes, so one that is already there
// with its size is not sent again; of an interrupted body only the missing pieces are sent.
import type { StoredBlob } from "../../engine/blobs.ts";
import type { Piece } from "../../repository/files.ts";
import type { Repository } from "../../repository/repository.ts";
import type { BodyTarget } from "../backup/backup-bucket.ts";
import type { BodyIndex } from "./body-index.ts";
import { blobName, bucketBlobsPrefix } from "./names.ts";

export function createRemoteBodies({ objects, files }: Repository, index: BodyIndex): BodyTarget {
  const isStored = ({ name, stored }: Piece) => index.storedSize(name) === stored;
  return {
    async openBucket(bucketId) {
      await index.addStored(objects.list(bucketBlobsPrefix(bucketId)));
      return {
        async has(blob: StoredBlob) {
          const name = blobName(blob);
          index.addNamed({ name, size: blob.size });
          for (const piece of files.pieces(name, blob.size)) if (!isStored(piece)) return false;
          return true;
        },
        put: (blob, chunks) => files.write(blobName(blob), blob.size, chunks, isStored),
        // The service has confirmed every object.
        finish: async () => {},
      };
    },
  };
}
