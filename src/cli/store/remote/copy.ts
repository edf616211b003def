// Copies an object inside an S3 service: in one request, or a large one part by part.
import { encodePath } from "../../../http/sigv4.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import type { S3Request } from "../../../s3-client/client.ts";
import { elementText } from "../../../s3-client/errors.ts";
import { Broken } from "../../../s3-client/http-client.ts";
import { abortUpload, completeUpload, etagOf } from "../../../s3-client/multipart-upload.ts";
import { CommandError } from "../../framework/command-error.ts";
import type { ObjectAddress } from "../object-address.ts";
import type { ServiceOperations } from "../object-store.ts";
import type { RemoteClient } from "./client.ts";
import { writeHeaders } from "./records.ts";

const MiB = 1024 * 1024;
/** S3 copies up to 5 GiB in one request; smaller requests are answered sooner. */
const wholeBytes = 1024 * MiB;
const partBytes = 512 * MiB;
const maxParts = 10_000;

type ReadRecord = (address: ObjectAddress) => Promise<ObjectRecord | undefined>;

export function createCopy(client: RemoteClient, readRecord: ReadRecord): ServiceOperations["copy"] {
  async function send(request: Omit<S3Request, "method">): Promise<string> {
    const { document } = await client.sendWithRetries({ ...request, method: "PUT" });
    return etagOf(elementText(document, "ETag"));
  }

  /** The copy fails if the source was replaced since `record` was read. */
  function sourceHeaders({ bucket, key }: ObjectAddress, { etag, isVersioned, version }: ObjectRecord) {
    const path = `/${encodePath(bucket)}/${encodePath(key)}`;
    return {
      "x-amz-copy-source": isVersioned === true ? `${path}?versionId=${version}` : path,
      ...(etag === "" ? {} : { "x-amz-copy-source-if-match": `"${etag}"` }),
    };
  }

  async function copyParts(from: ObjectAddress, record: ObjectRecord, to: ObjectAddress): Promise<void> {
    const source = sourceHeaders(from, record);
    const bytes = Math.max(partBytes, Math.ceil(record.size / maxParts / MiB) * MiB);
    const { httpMetadata, customMetadata, storageClass, tags, passthrough } = record;
    const headers = writeHeaders({ httpMetadata, customMetadata, storageClass, tags, passthrough });
    const created = await client.sendWithRetries({
      ...{ method: "POST", ...to, query: [["uploads", ""]], headers },
    });
    const id = elementText(created.document, "UploadId");
    if (id === undefined) throw client.mapError(new Broken("the upload has no id"));
    try {
      const etags: string[] = [];
      for (let at = 0; at < record.size; at += bytes) {
        const range = `bytes=${at}-${Math.min(at + bytes, record.size) - 1}`;
        const query = [
          ["partNumber", String(etags.length + 1)],
          ["uploadId", id],
        ] as const;
        etags.push(await send({ ...to, query, headers: { ...source, "x-amz-copy-source-range": range } }));
      }
      await completeUpload(client, { ...to, id, etags });
    } catch (error) {
      await abortUpload(client, { ...to, id });
      throw error;
    }
  }

  return async (from, listed, to) => {
    // A listing has no metadata, which a copy in parts has to send again.
    const record = listed.size <= wholeBytes ? listed : ((await readRecord(from)) ?? listed);
    if (record.size <= wholeBytes) {
      const headers = { ...sourceHeaders(from, record), "x-amz-metadata-directive": "COPY" };
      await send({ ...to, headers });
    } else await copyParts(from, record, to);
    const copied = await readRecord(to);
    if (copied === undefined || copied.size !== record.size) {
      throw new CommandError(`The copy "${to.bucket}/${to.key}" differs from its source in size.`);
    }
    return copied;
  };
}
