// Bulk get: reads several keys and returns a Map of their values, with metadata if requested.
import type { KeyValueEntry, KeyValues } from "../engine/key-value/key-value.ts";
import { KeyValueError, keyValueLimits } from "../model/key-value.ts";
import { getOptions, textArgument } from "./kv-arguments.ts";
import { parseMetadata, readValue } from "./kv-value.ts";

/** Maximum number of reads in flight, because each may keep a file open. */
const concurrency = 10;

export interface BulkRequest {
  readonly keys: readonly unknown[];
  readonly options: unknown;
  readonly wanted: "values" | "with metadata";
}

export async function getBulk(
  kv: KeyValues,
  namespace: string,
  { keys, options, wanted }: BulkRequest,
): Promise<Map<string, unknown>> {
  const type = getOptions(options);
  if (type !== "text" && type !== "json") {
    throw new KeyValueError(400, `"${type}" is not a valid type. Use "json" or "text"`);
  }
  if (keys.length > keyValueLimits.bulkKeys) {
    throw new KeyValueError(400, `You can request a maximum of ${keyValueLimits.bulkKeys} keys`);
  }
  if (keys.length < 1) throw new KeyValueError(400, "You must request a minimum of 1 key");
  // Unlike map, Array.from visits holes, so that each hole is reported as a missing key.
  const names = Array.from(keys, (key) => textArgument(key, "key"));
  const found = new Map<string, unknown>();
  let total = 0;
  for (let i = 0; i < names.length; i += concurrency) {
    const batch = names.slice(i, i + concurrency);
    const entries = await readAll(batch.map((name) => kv.get(namespace, name)));
    total += entries.reduce((sum, entry) => sum + (entry?.record.size ?? 0), 0);
    if (total > keyValueLimits.bulkBytes) {
      await cancelAll(entries);
      throw new KeyValueError(
        413,
        `Total size of request exceeds the limit of ${keyValueLimits.bulkBytes / 1024 / 1024}MB`,
      );
    }
    const values = await Promise.all(entries.map((entry) => entry && bulkValue(entry, type)));
    for (const [at, entry] of entries.entries()) {
      const value = values[at];
      const result = wanted === "values" ? value : { value, metadata: parseMetadata(entry?.metadata) };
      found.set(batch[at]!, entry === undefined ? null : result);
    }
  }
  return found;
}

/** Returns all entries. If one read fails, cancels the other reads and throws. */
async function readAll(reads: readonly Promise<KeyValueEntry | undefined>[]) {
  const settled = await Promise.allSettled(reads);
  const entries = settled.map((read) => (read.status === "fulfilled" ? read.value : undefined));
  const failed = settled.find((read) => read.status === "rejected");
  if (failed === undefined) return entries;
  await cancelAll(entries);
  throw failed.reason;
}

async function cancelAll(entries: readonly (KeyValueEntry | undefined)[]): Promise<void> {
  await Promise.all(entries.map((entry) => entry?.bytes.cancel()));
}

async function bulkValue(entry: KeyValueEntry, type: "text" | "json"): Promise<unknown> {
  const text = await readValue(entry, "text");
  if (type === "text") return text;
  try {
    return JSON.parse(text as string) as unknown;
  } catch {
    throw new KeyValueError(400, `At least one of the requested keys corresponds to a non-${type} value`);
  }
}
