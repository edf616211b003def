// The bucket that a script uses as `env.<binding>` (spec 4). Converts arguments for the engine, and
// outcomes of the engine to return values. The engine enforces the rules.
import type { Engine, ListOptions } from "../engine/engine.ts";
import type { HttpMetadata, ObjectRecord } from "../model/object.ts";
import type * as script from "../types.ts";
import {
  checksumArgument,
  conditionArgument,
  customerKeyArgument,
  customMetadataArgument,
  type Fields,
  httpMetadataArgument,
  limitArgument,
  optionsArgument,
  rangeArgument,
  stringArgument,
  stringField,
} from "./arguments.ts";
import { withCallStack } from "./call-stack.ts";
import type { Compatibility } from "./compatibility.ts";
import { type IncludedMetadata, StoreObject } from "./object.ts";
import { StoreObjectBody } from "./object-body.ts";
import { type Presigner, presignedUrl } from "./presign.ts";
import { StoreMultipartUpload } from "./upload.ts";
import { cancelSource, toSource } from "./values.ts";

export class StoreBucket {
  readonly #engine: Engine;
  readonly #name: string;
  readonly #compatibility: Compatibility;
  readonly #presigner: Presigner | undefined;

  constructor(engine: Engine, name: string, compatibility: Compatibility, presigner?: Presigner) {
    this.#engine = engine;
    this.#name = name;
    this.#compatibility = compatibility;
    this.#presigner = presigner;
  }

  async head(key: string): Promise<StoreObject | null> {
    try {
      const record = await this.#engine.head(this.#name, stringArgument(key, "key"));
      return record === undefined ? null : new StoreObject(record);
    } catch (error) {
      throw withCallStack(error);
    }
  }

  async get(
    key: string,
    options?: script.StoreGetOptions | null,
  ): Promise<StoreObjectBody | StoreObject | null> {
    try {
      const name = stringArgument(key, "key");
      const given = optionsArgument(options);
      const echoed = httpMetadataArgument(given);
      const result = await this.#engine.get(this.#name, name, {
        condition: conditionArgument(given),
        range: rangeArgument(given),
        customerKey: customerKeyArgument(given),
      });
      if (result.outcome === "missing") return null;
      const record = withMetadata(result.record, echoed);
      if (result.outcome === "refused") return new StoreObject(record);
      return new StoreObjectBody(record, result.range, result.bytes);
    } catch (error) {
      throw withCallStack(error);
    }
  }

  async put(
    key: string,
    value: script.StoreValue,
    options?: script.StorePutOptions | null,
  ): Promise<StoreObject | null> {
    const source = toSource(value, "put");
    try {
      const name = stringArgument(key, "key");
      const given = optionsArgument(options);
      const result = await this.#engine.put(this.#name, name, source, putOptions(given));
      return result.outcome === "refused" ? null : new StoreObject(result.record);
    } catch (error) {
      await cancelSource(source, error);
      throw withCallStack(error);
    }
  }

  async delete(keys: string | string[]): Promise<void> {
    const given = Array.isArray(keys) ? keys : [keys];
    try {
      // Unlike map, Array.from visits holes, so that each hole is reported as a missing key.
      await this.#engine.delete(
        this.#name,
        Array.from(given, (key) => stringArgument(key, "key")),
      );
    } catch (error) {
      throw withCallStack(error);
    }
  }

  async list(options?: script.StoreListOptions | null): Promise<script.StoreObjects> {
    try {
      const given = optionsArgument(options);
      const included = this.#included(given);
      const { objects, prefixes, cursor } = await this.#engine.list(this.#name, listOptions(given, included));
      const delimiter = stringField(given, "delimiter") ?? "";
      const page = {
        objects: objects.map((record) => new StoreObject(record, undefined, included)),
        delimitedPrefixes: this.#compatibility.keepDelimiter
          ? [...prefixes]
          : prefixes.map((prefix) => prefix.slice(0, -delimiter.length)),
      };
      return cursor === undefined ? { ...page, truncated: false } : { ...page, truncated: true, cursor };
    } catch (error) {
      throw withCallStack(error);
    }
  }

  async createMultipartUpload(
    key: string,
    options?: script.StoreMultipartOptions | null,
  ): Promise<StoreMultipartUpload> {
    try {
      const name = stringArgument(key, "key");
      const given = writeOptions(optionsArgument(options));
      const { id } = await this.#engine.createUpload(this.#name, name, given);
      return new StoreMultipartUpload(this.#engine, this.#name, name, id);
    } catch (error) {
      throw withCallStack(error);
    }
  }

  /** Synchronous: does not check that the upload exists, to save a round trip (spec 3). */
  resumeMultipartUpload(key: string, uploadId: string): StoreMultipartUpload {
    const id = stringArgument(uploadId, "uploadId");
    return new StoreMultipartUpload(this.#engine, this.#name, stringArgument(key, "key"), id);
  }

  async presign(key: string, options?: script.StorePresignOptions | null): Promise<string> {
    return presignedUrl(this.#presigner, this.#name, stringArgument(key, "key"), options);
  }

  #included(given: Fields): IncludedMetadata {
    if (!this.#compatibility.honorInclude) return { http: true, custom: true };
    const include = given.include ?? [];
    if (
      !Array.isArray(include) ||
      !include.every((name) => name === "httpMetadata" || name === "customMetadata")
    ) {
      throw new TypeError('"include" must be an array of "httpMetadata" and "customMetadata".');
    }
    return { http: include.includes("httpMetadata"), custom: include.includes("customMetadata") };
  }
}

function putOptions(given: Fields) {
  const { httpMetadata, customMetadata, storageClass, customerKey } = writeOptions(given);
  const condition = conditionArgument(given);
  const checksums = checksumArgument(given);
  return { httpMetadata, customMetadata, storageClass, customerKey, condition, checksums };
}

function writeOptions(given: Fields) {
  return {
    httpMetadata: httpMetadataArgument(given),
    customMetadata: customMetadataArgument(given),
    storageClass: stringField(given, "storageClass"),
    customerKey: customerKeyArgument(given),
  };
}

function listOptions(given: Fields, included: IncludedMetadata): ListOptions {
  return {
    prefix: stringField(given, "prefix"),
    delimiter: stringField(given, "delimiter"),
    // A missing query parameter often becomes an empty cursor: start at the first page.
    cursor: stringField(given, "cursor") || undefined,
    startAfter: stringField(given, "startAfter"),
    limit: limitArgument(given),
    withMetadata: included.http || included.custom,
  };
}

function withMetadata(record: ObjectRecord, echoed: HttpMetadata): ObjectRecord {
  if (Object.keys(echoed).length === 0) return record;
  return { ...record, httpMetadata: { ...record.httpMetadata, ...echoed } };
}
