// Reads the value of a key as the requested type.
import { Buffer } from "node:buffer";
import type { KeyValueEntry } from "../engine/key-value/key-value.ts";
import type { StoreKvValueType } from "../kv-types.ts";
import { StoreObjectBody } from "./object-body.ts";

/** Reads all bytes of the entry, or returns a stream of them for the type "stream". */
export async function readValue(entry: KeyValueEntry, type: StoreKvValueType): Promise<unknown> {
  if (type === "stream") return openBody(entry).body;
  const { inline } = entry.bytes;
  if (type === "arrayBuffer") {
    return inline === undefined ? openBody(entry).arrayBuffer() : new Uint8Array(inline).buffer;
  }
  const text = toText(inline ?? (await openBody(entry).bytes()));
  return type === "json" ? (JSON.parse(text) as unknown) : text;
}

export function parseMetadata(metadata: string | undefined): unknown {
  return metadata === undefined ? null : (JSON.parse(metadata) as unknown);
}

function openBody({ record, bytes }: KeyValueEntry): StoreObjectBody {
  return new StoreObjectBody(record, { offset: 0, length: record.size }, bytes);
}

/** Decodes UTF-8 and keeps a byte order mark, which TextDecoder would remove. */
function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
