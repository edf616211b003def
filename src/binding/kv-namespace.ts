// The key-value namespace that a script uses as `env.<binding>`. Converts arguments for the engine,
// and outcomes of the engine to return values. The engine enforces the rules.
import type { KeyValues } from "../engine/key-value/key-value.ts";
import type * as script from "../kv-types.ts";
import { checkType, getOptions, kvKeyArgument, kvSource, listOptions, putOptions } from "./kv-arguments.ts";
import { type BulkRequest, getBulk } from "./kv-bulk.ts";
import { type KvMethod, toScriptError } from "./kv-errors.ts";
import { parseMetadata, readValue } from "./kv-value.ts";
import { cancelSource } from "./values.ts";

/** Does not check that the namespace exists: the first operation checks it. */
export function bindKvNamespace(kv: KeyValues, namespace: string): script.StoreKvNamespace {
  // TypeScript cannot check that one method of the class implements all overloads.
  return new StoreKvNamespace(kv, namespace) as unknown as script.StoreKvNamespace;
}

export class StoreKvNamespace {
  readonly #kv: KeyValues;
  readonly #namespace: string;

  constructor(kv: KeyValues, namespace: string) {
    this.#kv = kv;
    this.#namespace = namespace;
  }

  async get(key: unknown, options?: unknown): Promise<unknown> {
    if (Array.isArray(key)) {
      return withScriptErrors("GET_BULK", () => this.#bulk(key, options, "values"));
    }
    return withScriptErrors("GET", async () => (await this.#read(key, options))?.value ?? null);
  }

  async getWithMetadata(key: unknown, options?: unknown): Promise<unknown> {
    if (Array.isArray(key)) {
      return withScriptErrors("GET_BULK", () => this.#bulk(key, options, "with metadata"));
    }
    return withScriptErrors("GET", async () => {
      const found = await this.#read(key, options);
      if (found === undefined) return { value: null, metadata: null, cacheStatus: null };
      return { value: found.value, metadata: parseMetadata(found.entry.metadata), cacheStatus: null };
    });
  }

  async put(key: unknown, value: unknown, options?: unknown): Promise<void> {
    const source = kvSource(value);
    await withScriptErrors("PUT", async () => {
      try {
        await this.#kv.put(this.#namespace, kvKeyArgument(key), source, putOptions(options));
      } catch (error) {
        await cancelSource(source, error);
        throw error;
      }
    });
  }

  async delete(key: unknown): Promise<void> {
    await withScriptErrors("DELETE", () => this.#kv.delete(this.#namespace, [kvKeyArgument(key)]));
  }

  async list(options?: unknown): Promise<unknown> {
    return withScriptErrors("GET", async () => {
      const { keys, cursor } = await this.#kv.list(this.#namespace, listOptions(options));
      const listed = keys.map(({ name, expiration, metadata }) => ({
        name,
        ...(expiration === undefined ? {} : { expiration }),
        ...(metadata === undefined ? {} : { metadata: JSON.parse(metadata) as unknown }),
      }));
      if (cursor === undefined) return { keys: listed, list_complete: true, cacheStatus: null };
      return { keys: listed, list_complete: false, cursor, cacheStatus: null };
    });
  }

  #bulk(keys: readonly unknown[], options: unknown, wanted: BulkRequest["wanted"]) {
    return getBulk(this.#kv, this.#namespace, { keys, options, wanted });
  }

  async #read(key: unknown, options: unknown) {
    const name = kvKeyArgument(key);
    const type = checkType(getOptions(options));
    const entry = await this.#kv.get(this.#namespace, name);
    if (entry === undefined) return undefined;
    return { entry, value: await readValue(entry, type) };
  }
}

async function withScriptErrors<T>(method: KvMethod, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw toScriptError(method, error);
  }
}
