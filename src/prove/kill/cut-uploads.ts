// Uploads in flight when their process was killed. Every acknowledged part must be stored, so that
// another process can send the missing parts and complete the upload, or abort it.
import assert from "node:assert/strict";
import type { Store } from "../../open.ts";
import { bytesOf, type Value } from "../bodies.ts";
import type { UploadReport } from "./object-writer.ts";

export interface CutUploads {
  learn(report: UploadReport): void;
  /** Completes or aborts each upload whose end had not begun; returns the completed uploads. */
  end(store: Store): Promise<Completed[]>;
}

export interface Completed {
  readonly bucket: string;
  readonly key: string;
  readonly value: Value;
}

interface CutUpload {
  readonly report: UploadReport;
  /** Etags by part number. */
  readonly parts: Map<number, string>;
}

export function createCutUploads(): CutUploads {
  const uploads = new Map<string, CutUpload>();
  return {
    learn(report) {
      if (report.said === "ending") {
        uploads.delete(report.upload);
        return;
      }
      const open = uploads.get(report.upload) ?? { report, parts: new Map() };
      uploads.set(report.upload, open);
      open.parts.set(report.number, report.etag);
    },
    async end(store) {
      const completed: Completed[] = [];
      for (const cut of uploads.values()) {
        // Upload ids are random, so half of the uploads are aborted and half are completed.
        if (Number.parseInt(cut.report.upload.at(-1)!, 16) % 2 === 0) await abort(store, cut);
        else completed.push(await complete(store, cut));
      }
      uploads.clear();
      return completed;
    },
  };
}

async function complete(store: Store, { report, parts }: CutUpload): Promise<Completed> {
  const { bucket, key, upload, value, partSize } = report;
  const resumed = store.bucket(bucket).resumeMultipartUpload(key, upload);
  const bytes = bytesOf(key, value);
  const all = [];
  for (let at = 0, number = 1; at < bytes.length; at += partSize, number++) {
    const etag = parts.get(number);
    if (etag === undefined) all.push(await resumed.uploadPart(number, bytes.subarray(at, at + partSize)));
    else all.push({ partNumber: number, etag });
  }
  await resumed.complete(all);
  const found = await store.bucket(bucket).get(key);
  const isWhole = found !== null && bytes.equals(await found.bytes());
  assert.ok(isWhole, `"${key}" has the bytes of the parts that were acknowledged`);
  return { bucket, key, value };
}

async function abort(store: Store, { report: { bucket, key, upload } }: CutUpload): Promise<void> {
  const resumed = store.bucket(bucket).resumeMultipartUpload(key, upload);
  await resumed.abort();
  const late = resumed.uploadPart(1, "late");
  await assert.rejects(late, { code: 10024 }, `the upload of "${key}" has ended`);
}
