// Parses and validates the file of `store kv bulk put`: a JSON array of keys and values.
import type { KeyValuePutOptions } from "../../engine/key-value/key-value.ts";
import { errorMessage } from "../../model/errors.ts";
import {
  checkKeyValueKey,
  checkKeyValueMetadata,
  checkValueLength,
  KeyValueError,
  resolveExpiration,
} from "../../model/key-value.ts";
import { type Fields, isFields } from "../../model/shape.ts";
import { CommandError } from "../framework/command-error.ts";
import type { Input } from "../terminal/input.ts";

export interface BulkEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly options: KeyValuePutOptions;
}

const maxFileBytes = 256 * 1024 * 1024;
const maxEntries = 10_000;
const knownFields = ["key", "value", "expiration", "expiration_ttl", "metadata", "base64"];

export async function parseBulk({ chunks }: Input, name: string): Promise<readonly BulkEntry[]> {
  const parsed = parseJson(await readAll(chunks, name), name);
  if (!Array.isArray(parsed)) {
    throw bulkFileError(name, "it does not contain an array", 'Write: [{ "key": "a", "value": "1" }]');
  }
  if (parsed.length > maxEntries) {
    throw bulkFileError(
      name,
      `it contains ${parsed.length} keys, but the limit is ${maxEntries}`,
      "Split the file.",
    );
  }
  const now = Date.now();
  return parsed.map((entry: unknown, i) => {
    try {
      return bulkEntry(entry, now);
    } catch (error) {
      if (!(error instanceof KeyValueError)) throw error;
      throw bulkFileError(name, `entry ${i + 1} of its array is invalid: ${error.message}`);
    }
  });
}

async function readAll(chunks: AsyncIterable<Uint8Array>, name: string): Promise<Buffer> {
  const found: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxFileBytes) throw bulkFileError(name, "it is larger than 256 MiB", "Split the file.");
    found.push(chunk);
  }
  return Buffer.concat(found);
}

function parseJson(bytes: Buffer, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw bulkFileError(name, `it is not JSON: ${errorMessage(error)}`);
  }
}

function bulkEntry(entry: unknown, now: number): BulkEntry {
  if (!isFields(entry)) throw new KeyValueError(400, "it is not an object");
  const unknown = Object.keys(entry).find((field) => !knownFields.includes(field));
  if (unknown !== undefined) {
    throw new KeyValueError(
      400,
      `it has an unknown field "${unknown}"; valid fields are ${knownFields.join(", ")}`,
    );
  }
  const { key, metadata } = entry;
  if (typeof key !== "string" || !key.isWellFormed()) throw new KeyValueError(400, '"key" is not a string');
  checkKeyValueKey(key);
  const value = bulkValue(entry);
  checkValueLength(value.length);
  const hasMetadata = metadata !== undefined && metadata !== null;
  const options = {
    expiration: secondsField(entry, "expiration"),
    expirationTtl: secondsField(entry, "expiration_ttl"),
    metadata: hasMetadata ? JSON.stringify(metadata) : undefined,
  };
  resolveExpiration(options, now);
  if (options.metadata !== undefined) checkKeyValueMetadata(options.metadata);
  return { key, value, options };
}

function bulkValue({ value, base64 = false }: Fields): Uint8Array {
  if (typeof value !== "string") throw new KeyValueError(400, '"value" is not a string');
  if (typeof base64 !== "boolean") throw new KeyValueError(400, '"base64" is not true or false');
  if (!base64) return Buffer.from(value);
  const bytes = Buffer.from(value, "base64");
  if (bytes.toString("base64").replace(/=+$/, "") !== value.replace(/=+$/, "")) {
    throw new KeyValueError(400, '"value" is not base64');
  }
  return bytes;
}

function secondsField(entry: Fields, name: string): number | undefined {
  const value = entry[name];
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value))
    throw new KeyValueError(400, `"${name}" is not a whole number of seconds`);
  return value as number;
}

function bulkFileError(name: string, why: string, hint?: string): CommandError {
  return new CommandError(`Cannot use "${name}": ${why}.`.replace(/\.\.$/, "."), {
    hint: hint ?? "Nothing was changed.",
    exitCode: 2,
  });
}
