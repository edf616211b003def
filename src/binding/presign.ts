// Creates presigned URLs. Anyone with such a URL can access one object until the URL expires.
import { encodePath, encodeText, presign } from "../http/sigv4.ts";
import { checkKey } from "../model/key.ts";
import type * as script from "../types.ts";
import { optionsArgument } from "./arguments.ts";

/** Endpoint of the S3 API, and the access key that signs the URLs. */
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
      "presign: no S3 endpoint is configured. `store dev` and `store serve` configure one for scripts; " +
        "in a program, use openStore(location, { presign: { endpoint, accessKeyId, secretAccessKey } }).",
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
  if (key === "") throw new TypeError("presign: the key must not be empty.");
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
