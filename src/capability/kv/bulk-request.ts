// Reads the JSON document of a bulk get.
import { collectBody } from "../../http/collect-body.ts";
import { KeyValueError, keyValueLimits } from "../../model/key-value.ts";
import { type Fields, isFields, isWithinJsonLimits } from "../../model/shape.ts";
import { checkCacheTtl } from "./parse-request.ts";

export interface BulkRequest {
  readonly keys: readonly string[];
  readonly type: "text" | "json";
  readonly withMetadata: boolean;
}

/** Maximum size of a request: several times as much as 100 keys of maximum length. */
const maxRequestBytes = 1024 * 1024;

export async function readBulkRequest(body: AsyncIterable<Uint8Array>): Promise<BulkRequest> {
  return parseBulkRequest(await readDocument(body));
}

async function readDocument(body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const bytes = await collectBody(body, maxRequestBytes);
  if (bytes === undefined)
    throw new KeyValueError(413, "The keys of this request are too long: request fewer keys.");
  if (!isWithinJsonLimits(bytes))
    throw new KeyValueError(
      400,
      "The body of this request has too many values, or lists too deep in each other.",
    );
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new KeyValueError(400, "The body of this request is not valid JSON.");
  }
}

const fieldNames = ["keys", "type", "withMetadata", "cacheTtl"];

function parseBulkRequest(document: unknown): BulkRequest {
  if (!isFields(document) || Object.keys(document).some((name) => !fieldNames.includes(name))) {
    throw new KeyValueError(400, "The body of this request has an unknown or invalid field.");
  }
  const { keys, withMetadata = false, cacheTtl } = document;
  const type = parseType(document);
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === "string")) {
    throw new KeyValueError(400, "The keys of this request must be strings.");
  }
  if (typeof withMetadata !== "boolean" || (cacheTtl !== undefined && typeof cacheTtl !== "string")) {
    throw new KeyValueError(400, "The body of this request has an unknown or invalid field.");
  }
  checkCacheTtl(cacheTtl);
  const { bulkKeys } = keyValueLimits;
  if (keys.length > bulkKeys) {
    throw new KeyValueError(400, `You can request a maximum of ${bulkKeys} keys`);
  }
  if (keys.length < 1) throw new KeyValueError(400, "You must request a minimum of 1 key");
  return { keys: keys.map((key) => key.toWellFormed()), type, withMetadata };
}

function parseType({ type = "text" }: Fields): BulkRequest["type"] {
  if (type === "text" || type === "json") return type;
  const shown = typeof type === "string" ? type.slice(0, 40) : typeof type;
  throw new KeyValueError(400, `"${shown}" is not a valid type. Use "json" or "text"`);
}
