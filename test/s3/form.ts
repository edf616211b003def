// Builds and signs POST forms without a browser, so that tests can change any part.
import { amzTime, sign, signingKey } from "../../src/http/sigv4.ts";
import { type RawAnswer, sendRaw } from "./raw.ts";
import type { Key } from "./scene.ts";

export type Field = readonly [name: string, value: string];

export interface FormOptions {
  readonly key: Key;
  readonly bucket: string;
  readonly conditions?: readonly unknown[];
  /** Milliseconds since the epoch; default: five minutes from now. */
  readonly expires?: number;
  /** The encoded policy; default: built from the conditions. */
  readonly policy?: string;
}

/** Returns the fields of a valid form, including the signature. */
export function signedFields({ key, bucket, conditions, expires, policy }: FormOptions): Field[] {
  const time = amzTime(Date.now());
  const scope = { day: time.slice(0, 8), region: "auto", service: "s3" };
  const credential = `${key.accessKeyId}/${scope.day}/auto/s3/aws4_request`;
  const own: Field[] = [
    ["x-amz-algorithm", "AWS4-HMAC-SHA256"],
    ["x-amz-credential", credential],
    ["x-amz-date", time],
    ...(key.sessionToken === undefined ? [] : [["x-amz-security-token", key.sessionToken] as const]),
  ];
  const document = JSON.stringify({
    expiration: new Date(expires ?? Date.now() + 300_000).toISOString(),
    conditions: [
      ...(conditions ?? [["starts-with", "$key", "form/"], { "x-amz-meta-tag": "one" }]),
      { bucket },
      ...own.map(([name, value]) => ({ [name]: value })),
    ],
  });
  const encoded = policy ?? Buffer.from(document).toString("base64");
  const signature = sign(signingKey(key.secretAccessKey, scope), encoded);
  return [
    ["key", "form/upload"],
    ["x-amz-meta-tag", "one"],
    ...own,
    ["policy", encoded],
    ["x-amz-signature", signature],
  ];
}

export const boundary = "----a-boundary";

export function encodeForm(fields: readonly Field[], file: string | undefined = "the file"): string {
  const part = (head: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
  const parts = fields.map(([name, value]) => part(`name="${name}"`, value));
  if (file !== undefined) parts.push(part('name="file"; filename="a.txt"', file));
  return `${parts.join("")}--${boundary}--\r\n`;
}

export function postForm(
  url: string,
  bucket: string,
  body: string | Buffer,
  type = `multipart/form-data; boundary=${boundary}`,
): Promise<RawAnswer> {
  return sendRaw(url, {
    method: "POST",
    path: `/${bucket}`,
    headers: { "content-type": type },
    body: Buffer.from(body),
  });
}
