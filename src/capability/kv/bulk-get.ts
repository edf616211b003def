// Bulk get: reads several keys and returns one JSON object of their values, with metadata if
// requested.
import type { KeyValueEntry, KeyValues } from "../../engine/key-value/key-value.ts";
import type { HttpResponse } from "../../http/server/listen.ts";
import { KeyValueError, keyValueLimits } from "../../model/key-value.ts";
import { isFields } from "../../model/shape.ts";
import { type BulkRequest, readBulkRequest } from "./bulk-request.ts";
import { type BulkValue, formatValues } from "./format-values.ts";

/** Maximum number of reads in flight, because each may keep a file open. */
const concurrency = 10;
export async function getBulk(
  kv: KeyValues,
  namespace: string,
  body: AsyncIterable<Uint8Array>,
): Promise<HttpResponse> {
  const request = await readBulkRequest(body);
  const { keys } = request;
  const values: BulkValue[] = [];
  let total = 0;
  for (let i = 0; i < keys.length; i += concurrency) {
    const batch = keys.slice(i, i + concurrency);
    const entries = await readAll(batch.map((key) => kv.get(namespace, key)));
    total += entries.reduce((sum, entry) => sum + (entry?.record.size ?? 0), 0);
    if (total > keyValueLimits.bulkBytes) {
      await cancelAll(entries);
      throw new KeyValueError(
        413,
        `Total size of request exceeds the limit of ${keyValueLimits.bulkBytes / 1024 / 1024}MB`,
      );
    }
    const texts = await readAll(entries.map((entry) => readText(entry, request.type)));
    for (const [at, key] of batch.entries()) {
      values.push({ key, text: texts[at], metadata: entries[at]?.metadata });
    }
  }
  return {
    status: 200,
    headers: [["content-type", "application/json"]],
    body: formatValues(values, request),
  };
}

/** Waits for all reads. If one fails, cancels the entries of the others and throws. */
async function readAll<T>(reads: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(reads);
  const failed = settled.find((read) => read.status === "rejected");
  const results = settled.flatMap((read) => (read.status === "fulfilled" ? [read.value] : []));
  if (failed === undefined) return results;
  await cancelAll(results);
  throw failed.reason;
}

async function cancelAll(results: readonly unknown[]): Promise<void> {
  const isEntry = (result: unknown): result is KeyValueEntry => isFields(result) && "bytes" in result;
  await Promise.all(results.filter(isEntry).map(({ bytes }) => bytes.cancel()));
}

async function readText(
  entry: KeyValueEntry | undefined,
  type: BulkRequest["type"],
): Promise<string | undefined> {
  if (entry === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  if (entry.bytes.inline !== undefined) chunks.push(entry.bytes.inline);
  else for await (const chunk of entry.bytes.chunks()) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  if (type === "json") checkJson(text);
  return text;
}

function checkJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new KeyValueError(400, "At least one of the requested keys corresponds to a non-json value");
  }
}
