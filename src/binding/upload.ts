// A multipart upload of a script (spec 2.9). A resumed upload is checked at its first use.
import type { Engine } from "../engine/engine.ts";
import type * as script from "../types.ts";
import {
  customerKeyArgument,
  type Fields,
  optionsArgument,
  partNumberArgument,
  stringField,
} from "./arguments.ts";
import { withCallStack } from "./call-stack.ts";
import { StoreObject } from "./object.ts";
import { cancelSource, toSource } from "./values.ts";

export class StoreMultipartUpload implements script.StoreMultipartUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly #engine: Engine;
  readonly #bucket: string;

  constructor(engine: Engine, bucket: string, key: string, uploadId: string) {
    this.#engine = engine;
    this.#bucket = bucket;
    this.key = key;
    this.uploadId = uploadId;
  }

  get #name() {
    return { key: this.key, id: this.uploadId };
  }

  async uploadPart(
    partNumber: number,
    value: script.StorePartValue,
    options?: script.StoreMultipartOptions | null,
  ): Promise<script.StoreUploadedPart> {
    const source = toSource(value, "uploadPart");
    try {
      const number = partNumberArgument(partNumber);
      const customerKey = customerKeyArgument(optionsArgument(options));
      const { etag } = await this.#engine.uploadPart(this.#bucket, this.#name, number, source, {
        customerKey,
      });
      return { partNumber: number, etag };
    } catch (error) {
      await cancelSource(source, error);
      throw withCallStack(error);
    }
  }

  async abort(): Promise<void> {
    try {
      await this.#engine.abortUpload(this.#bucket, this.#name);
    } catch (error) {
      throw withCallStack(error);
    }
  }

  async complete(uploadedParts: script.StoreUploadedPart[]): Promise<script.StoreObject> {
    if (!Array.isArray(uploadedParts)) throw new TypeError("complete: pass the array of uploaded parts.");
    try {
      // Unlike map, Array.from visits holes, so that each hole is refused as an invalid part.
      const parts = Array.from(uploadedParts, partArgument);
      return new StoreObject(await this.#engine.completeUpload(this.#bucket, this.#name, parts));
    } catch (error) {
      throw withCallStack(error);
    }
  }
}

function partArgument(part: unknown) {
  if (typeof part !== "object" || part === null) {
    throw new TypeError("Each uploaded part must be an object with partNumber and etag.");
  }
  const { partNumber } = part as Fields;
  const etag = stringField(part as Fields, "etag");
  if (etag === undefined)
    throw new TypeError("Each uploaded part must have the etag that uploadPart returned.");
  return { number: partNumberArgument(partNumber), etag };
}
