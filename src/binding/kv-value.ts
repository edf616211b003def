// The value of a key, as the type that a script asks for.
import type { KeyValueEntry } from "../engine/key-value/key-value.ts";
import type { StoreKvValueType } from "../kv-types.ts";
import { StoreObjectBody } from "./object-body.ts";

/** Reads the bytes of the entry to their end, or hands them to the stream. */
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

/** Keeps a byte order mark: a text comes back as it was put. */
function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
