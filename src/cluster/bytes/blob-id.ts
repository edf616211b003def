// How a blob is named in records: where it lies on the shelf, and what reading it back takes to know.
import { StoreError } from "../../model/errors.ts";
import type { BackendBlob } from "../backend/backend.ts";

/** The database takes the first two fields apart, too: schema-commit.ts. */
export function blobId({ bucket, name, size, pieceBlocks, isDoubtful }: BackendBlob): string {
  return `${bucket}.${name}.${size}.${pieceBlocks}${isDoubtful === true ? ".doubtful" : ""}`;
}

const blobIdPattern = /^(\d+)\.([0-9a-f]{32})\.(\d+)\.(\d+)(\.doubtful)?$/;

export function parseBlobId(id: string): BackendBlob {
  const [, bucket, name, size, pieceBlocks, doubtful] = blobIdPattern.exec(id) ?? [];
  if (bucket === undefined || name === undefined) {
    throw new StoreError("Damaged", { detail: `The stored data is damaged: "${id}" names no blob.` });
  }
  const isDoubtful = doubtful !== undefined;
  return {
    bucket,
    name,
    size: Number(size),
    pieceBlocks: Number(pieceBlocks),
    ...(isDoubtful ? { isDoubtful } : {}),
  };
}
