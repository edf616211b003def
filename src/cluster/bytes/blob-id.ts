// The blob id in records: bucket id, name, size and blocks per piece. These are enough to read a
// blob.
import { StoreError } from "../../model/errors.ts";
import type { BackendBlob } from "../backend/backend.ts";

/** The first two fields are also parsed by SQL functions (schema/v1-commit.ts). */
export function blobId({ bucket, name, size, pieceBlocks, isDoubtful }: BackendBlob): string {
  return `${bucket}.${name}.${size}.${pieceBlocks}${isDoubtful === true ? ".doubtful" : ""}`;
}

const blobIdPattern = /^(\d+)\.([0-9a-f]{32})\.(\d+)\.(\d+)(\.doubtful)?$/;

export function parseBlobId(id: string): BackendBlob {
  const [, bucket, name, size, pieceBlocks, doubtful] = blobIdPattern.exec(id) ?? [];
  if (bucket === undefined || name === undefined) {
    throw new StoreError("Damaged", {
      detail: `The stored data is damaged: "${id}" is not a blob id.`,
    });
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
