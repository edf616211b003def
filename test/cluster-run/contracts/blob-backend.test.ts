// The contract of the blob backend on Ceph, written through one radosgw and read through the other.
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { BackendBlob } from "../../../src/cluster/backend/backend.ts";
import { openBlobBackend, parseLocation } from "../../../src/cluster/open-backend.ts";
import { newBucket } from "../../contracts/blob-backend/setup.ts";
import { shelfContract } from "../../contracts/blob-backend.ts";
import { addressVariable } from "../contract-run.ts";
import type { Addresses } from "../location.ts";

const { blobs } = JSON.parse(process.env[addressVariable]!) as Addresses;

/** Piece limits so small that blobs of a few blocks have several pieces. */
const smallPieces = { maxBlocks: 3, minBlocks: 2, bytes: 16 * 1024 * 1024 };

/** An independent S3 client that changes stored objects without the backend. */
function clientOf(url: string): { readonly client: S3Client; readonly bucket: string } {
  const location = parseLocation(url);
  if (location.kind !== "s3") throw new Error("The blob backend of this cluster is not S3");
  const { accessKeyId, secretAccessKey, hostname, port, region, bucket } = location.endpoint;
  const client = new S3Client({
    endpoint: `http://${hostname}:${port}`,
    region,
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    credentials: { accessKeyId, secretAccessKey },
  });
  return { client, bucket };
}

for (const [name, options] of Object.entries({
  Ceph: {},
  "Ceph, in small pieces": { pieces: smallPieces },
})) {
  shelfContract(name, async (t) => {
    const prefix = `shelf ${newBucket()}+&/`;
    const urlOf = (url: string) => `${url}/${encodeURIComponent(prefix.slice(0, -1))}`;
    const backend = await openBlobBackend(urlOf(blobs[0]!), { marker: "make", ...options });
    const other = await openBlobBackend(urlOf(blobs[1]!), options);
    const { client, bucket: Bucket } = clientOf(blobs[0]!);
    t.after(async () => {
      await Promise.all([backend.close(), other.close()]);
      client.destroy();
    });
    const keyOf = ({ bucket, name: blob }: BackendBlob, piece: number) =>
      `${prefix}${bucket}/${blob}${piece === 0 ? "" : `.${String(piece).padStart(6, "0")}`}`;
    return {
      shelf: backend,
      other,
      async change(blob, piece, how) {
        const Key = keyOf(blob, piece);
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        const changed = how(Buffer.from(await Body!.transformToByteArray()));
        if (changed === undefined) await client.send(new DeleteObjectCommand({ Bucket, Key }));
        else await client.send(new PutObjectCommand({ Bucket, Key, Body: changed }));
      },
      async left(bucket) {
        const Prefix = `${prefix}${bucket}/`;
        return (await client.send(new ListObjectsV2Command({ Bucket, Prefix }))).KeyCount ?? 0;
      },
    };
  });
}
