// URLs of objects in the S3 API: plain, presigned, and for a frame in the page. The S3 API has a
// different origin than the console, so framed content cannot access the session.
import type { S3Access } from "../../http/sigv4.ts";
import { encodePath, encodeText, presign } from "../../http/sigv4.ts";

export interface Links {
  url(bucket: string, key: string): string;
  signed(bucket: string, key: string, seconds: number): string;
  /** Short-lived URL, whose response always has the content type application/pdf. */
  framedPdf(bucket: string, key: string): string;
}

const frameSeconds = 300;

export function createLinks({ endpoint, accessKeyId, secretAccessKey }: S3Access, now: () => number): Links {
  const objectPath = (bucket: string, key: string) => `/${encodeText(bucket)}/${encodePath(key)}`;
  const sign = (path: string, expiresInSeconds: number, query: readonly (readonly [string, string])[] = []) =>
    presign({
      ...{ endpoint, path, accessKeyId, secretAccessKey, query, expiresInSeconds },
      ...{ method: "GET", region: "auto", time: now() },
    });
  return {
    url: (bucket, key) => endpoint + objectPath(bucket, key),
    signed: (bucket, key, seconds) => sign(objectPath(bucket, key), seconds),
    framedPdf: (bucket, key) =>
      sign(objectPath(bucket, key), frameSeconds, [
        ["response-content-disposition", "inline"],
        ["response-content-type", "application/pdf"],
      ]),
  };
}
