// The operations of a client of the recorded histories, and their implementation with the binding.
import type { StoreBucket } from "../../types.ts";
import { assertWhole, bytesNamed, partsOf, shapeOf } from "./values.ts";

export interface Target {
  /** Whether parts may be small; S3 requires at least 5 MiB. */
  readonly takesSmallParts: boolean;
  /** Checks the bytes of the object and returns its etag; null if the key does not exist. */
  get(key: string): Promise<string | null>;
  head(key: string): Promise<string | null>;
  list(prefix: string, startAfter: string, limit: number): Promise<Page>;
  /** Puts the value with this name; returns false if the condition failed. */
  put(key: string, name: string, condition?: Condition): Promise<boolean>;
  delete(keys: readonly string[]): Promise<void>;
}

/** Condition of a put: the object has this etag, or the key does not exist. */
export type Condition = { readonly etagMatches: string } | { readonly etagDoesNotMatch: "*" };

export interface Page {
  readonly etags: ReadonlyMap<string, string>;
  readonly truncated: boolean;
}

/** Thrown if no answer came: it is unknown whether the operation took effect. */
export class NoAnswer extends Error {}

export function bindingTarget(bucket: StoreBucket): Target {
  return {
    takesSmallParts: true,
    async get(key) {
      const found = await bucket.get(key);
      if (found === null) return null;
      assertWhole(await found.bytes(), found.etag);
      return found.etag;
    },
    async head(key) {
      return (await bucket.head(key))?.etag ?? null;
    },
    async list(prefix, startAfter, limit) {
      const { objects, truncated } = await bucket.list({ prefix, startAfter, limit });
      return { etags: new Map(objects.map(({ key, etag }) => [key, etag])), truncated };
    },
    async put(key, name, condition) {
      const bytes = bytesNamed(name);
      if (condition !== undefined) return (await bucket.put(key, bytes, { onlyIf: condition })) !== null;
      if (shapeOf(name) === "parts") await putParts(bucket, key, bytes);
      else await bucket.put(key, bytes);
      return true;
    },
    delete: (keys) => bucket.delete([...keys]),
  };
}

async function putParts(bucket: StoreBucket, key: string, bytes: Buffer): Promise<void> {
  const upload = await bucket.createMultipartUpload(key);
  const parts = await Promise.all(partsOf(bytes).map((part, i) => upload.uploadPart(i + 1, part)));
  await upload.complete(parts);
}
