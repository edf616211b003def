// How objects are reached by the S3 API: plainly, by a link that anybody may use for a while, and as a frame in the
// page. The S3 API is another origin than the console's, so that what is framed from there cannot reach the session.
import { encodePath, encodeText, presign } from "../../http/sigv4.ts";

/** Where the S3 API answers, and whose authority links carry. */
export interface S3Access {
  /** `http://host:port`, without a path. */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Links {
  url(bucket: string, key: string): string;
  signed(bucket: string, key: string, seconds: number): string;
  /** For a moment, and as nothing else than a PDF, whatever it has become meanwhile. */
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
