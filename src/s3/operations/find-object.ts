// Finds the object or version that a request names, for operations that do not read its bytes.
import type { ObjectRecord } from "../../model/object.ts";
import type { Call } from "../call.ts";
import { missingObject } from "../headers/versions.ts";

/** Throws NoSuchKey or NoSuchVersion, or MethodNotAllowed for a delete marker. */
export async function findObject({ engine, operation, request }: Call): Promise<ObjectRecord> {
  const { bucket, key, version } = operation;
  const record = await engine.head(bucket, key, { version });
  if (record !== undefined) return record;
  // Only `describe` returns the delete marker.
  const described = await engine.describe(bucket, key, { version });
  const marker = described.outcome === "missing" ? described.marker : undefined;
  throw missingObject({ key, version, method: request.method, marker });
}
