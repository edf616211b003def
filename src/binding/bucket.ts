// The bucket that a script uses as `env.<binding>` (spec 4). Converts arguments for the engine, and
// outcomes of the engine to return values. The engine enforces the rules.

import type { StoreTemporaryCredentials, StoreTemporaryCredentialsOptions } from "../credential-types.ts";
import type { Engine } from "../engine/engine.ts";
import { StoreError } from "../model/errors.ts";
import type { HttpMetadata, ObjectRecord } from "../model/object.ts";
import type * as script from "../types.ts";
import {
  conditionArgument,
  customerKeyArgument,
  type Fields,
  httpMetadataArgument,
  optionsArgument,
  rangeArgument,
  stringArgument,
  stringField,
} from "./arguments.ts";
import { includedMetadata, listOptions, putOptions, writeOptions } from "./bucket-options.ts";
import { withCallStack } from "./call-stack.ts";
import type { Compatibility } from "./compatibility.ts";
import { StoreObject } from "./object.ts";
import { StoreObjectBody } from "./object-body.ts";
import { type Presigner, presignedUrl } from "./presign.ts";
import { bucketCredentials } from "./temporary.ts";
import { StoreMultipartUpload } from "./upload.ts";
import { cancelSource, toSource } from "./values.ts";
import {
  booleanArgument,
  booleanField,
  retentionArgument,
  tagsArgument,
  versionArgument,
  versionOptions,
} from "./version-arguments.ts";
import { listVersions } from "./version-list.ts";

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

  async head(key: string, options?: script.StoreHeadOptions | null): Promise<StoreObject | null> {
    try {
      const name = stringArgument(key, "key");
      const record = await this.#engine.head(this.#name, name, versionOptions(optionsArgument(options)));
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
      const { version, time } = versionOptions(given);
      const result = await this.#engine.get(this.#name, name, {
        condition: conditionArgument(given),
        range: rangeArgument(given),
        customerKey: customerKeyArgument(given),
        version,
        time,
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

  async delete(keys: string | string[], options?: script.StoreVersionOptions | null): Promise<void> {
    const given = Array.isArray(keys) ? keys : [keys];
    try {
      const version = versionArgument(optionsArgument(options));
      if (version !== undefined) return await this.#deleteVersion(keys, version);
      // Unlike map, Array.from visits holes, so that each hole is reported as a missing key.
      await this.#engine.delete(
        this.#name,
        Array.from(given, (key) => stringArgument(key, "key")),
      );
    } catch (error) {
      throw withCallStack(error);
    }
  }

  async list(
    options?: script.StoreListOptions | script.StoreListVersionsOptions | null,
  ): Promise<script.StoreObjects | script.StoreObjectVersions> {
    try {
      const given = optionsArgument(options);
      const included = includedMetadata(given, this.#compatibility);
      if (booleanField(given, "versions") === true) {
        const { objects, prefixes, cursor } = await listVersions(this.#engine, this.#name, given, included);
        return withCursor({ objects, delimitedPrefixes: this.#delimitedPrefixes(prefixes, given) }, cursor);
      }
      const { objects, prefixes, cursor } = await this.#engine.list(this.#name, listOptions(given, included));
      const page = {
        objects: objects.map((record) => new StoreObject(record, undefined, included)),
        delimitedPrefixes: this.#delimitedPrefixes(prefixes, given),
      };
      return withCursor(page, cursor);
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

  async setTags(
    key: string,
    tags: Record<string, string>,
    options?: script.StoreVersionOptions | null,
  ): Promise<StoreObject> {
    try {
      const name = stringArgument(key, "key");
      const version = versionArgument(optionsArgument(options));
      return new StoreObject(await this.#engine.setTags(this.#name, name, tagsArgument(tags), { version }));
    } catch (error) {
      throw withCallStack(error);
    }
  }

  async setRetention(
    key: string,
    retention: script.StoreRetention | null,
    options?: script.StoreVersionOptions | null,
  ): Promise<StoreObject> {
    try {
      const name = stringArgument(key, "key");
      const version = versionArgument(optionsArgument(options));
      const given = retention === null ? undefined : retentionArgument(retention);
      return new StoreObject(await this.#engine.setRetention(this.#name, name, given, { version }));
    } catch (error) {
      throw withCallStack(error);
    }
  }

  async setLegalHold(
    key: string,
    legalHold: boolean,
    options?: script.StoreVersionOptions | null,
  ): Promise<StoreObject> {
    try {
      const name = stringArgument(key, "key");
      const version = versionArgument(optionsArgument(options));
      const hasHold = booleanArgument(legalHold, "legalHold");
      return new StoreObject(await this.#engine.setLegalHold(this.#name, name, hasHold, { version }));
    } catch (error) {
      throw withCallStack(error);
    }
  }

  async presign(key: string, options?: script.StorePresignOptions | null): Promise<string> {
    return presignedUrl(this.#presigner, this.#name, stringArgument(key, "key"), options);
  }

  async temporaryCredentials(
    options?: StoreTemporaryCredentialsOptions | null,
  ): Promise<StoreTemporaryCredentials> {
    return bucketCredentials(this.#presigner, this.#name, options);
  }

  async #deleteVersion(key: unknown, version: string): Promise<void> {
    if (Array.isArray(key)) {
      throw new TypeError('"version" needs one key, not an array: call delete for each version.');
    }
    const target = { key: stringArgument(key, "key"), version };
    const [deletion] = await this.#engine.deleteVersions(this.#name, [target]);
    if (deletion?.outcome === "locked") {
      throw new StoreError("AccessDenied", { action: "delete", detail: deletion.message });
    }
  }

  #delimitedPrefixes(prefixes: readonly string[], given: Fields): string[] {
    if (this.#compatibility.keepDelimiter) return [...prefixes];
    const { length } = stringField(given, "delimiter") ?? "";
    return prefixes.map((prefix) => prefix.slice(0, -length));
  }
}

function withCursor<T>(page: T, cursor: string | undefined) {
  return cursor === undefined
    ? { ...page, truncated: false as const }
    : { ...page, truncated: true as const, cursor };
}

function withMetadata(record: ObjectRecord, echoed: HttpMetadata): ObjectRecord {
  if (Object.keys(echoed).length === 0) return record;
  return { ...record, httpMetadata: { ...record.httpMetadata, ...echoed } };
}
