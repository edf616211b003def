// URLs that let anybody who holds them reach one object by the S3 API, until they expire.
import { encodePath, encodeText, presign } from "../http/sigv4.ts";
import { checkKey } from "../model/key.ts";
import type * as script from "../types.ts";
import { optionsArgument } from "./arguments.ts";

/** Where the S3 API answers, and whose authority the URLs carry. */
export interface Presigner {
  /** `http://host:port`, without a path. */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly now?: (() => number) | undefined;
}

const methods = ["GET", "HEAD", "PUT", "DELETE"] as const;
const maxSeconds = 7 * 24 * 3600;
const defaultSeconds = 3600;

export function presignedUrl(
  presigner: Presigner | undefined,
  bucket: string,
  key: string,
  options: script.StorePresignOptions | null | undefined,
): string {
  if (presigner === undefined) {
    throw new TypeError(
      "presign: there is no S3 endpoint to sign for. Scripts have one under `store dev` and `store serve`; " +
        "a program names its own: openStore(location, { presign: { endpoint, accessKeyId, secretAccessKey } })",
    );
  }
  const { method = "GET", expiresIn = defaultSeconds } = optionsArgument(
    options,
  ) as script.StorePresignOptions;
  if (!methods.some((one) => one === method)) {
    throw new TypeError(`"method" must be one of ${methods.join(", ")}.`);
  }
  if (!Number.isInteger(expiresIn) || expiresIn < 1 || expiresIn > maxSeconds) {
    throw new TypeError(`"expiresIn" must be a whole number of seconds from 1 to ${maxSeconds}.`);
  }
  if (key === "") throw new TypeError("presign: an object without a name has no URL.");
  checkKey(key);
  return presign({
    endpoint: presigner.endpoint,
    method,
    path: `/${encodeText(bucket)}/${encodePath(key)}`,
    accessKeyId: presigner.accessKeyId,
    secretAccessKey: presigner.secretAccessKey,
    region: "auto",
    time: (presigner.now ?? Date.now)(),
    expiresInSeconds: expiresIn,
  });
}
