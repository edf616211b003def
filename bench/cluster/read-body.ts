// Reads whole bodies through an engine, as a front end does.
import type { Engine } from "../../src/engine/engine.ts";
import { sameCount } from "../section.ts";

export async function readBody(engine: Engine, bucket: string, key: string, size: number): Promise<void> {
  const found = await engine.get(bucket, key);
  if (found.outcome !== "found") throw new Error(`Cannot measure: an object is ${found.outcome}`);
  let bytes = 0;
  for await (const chunk of found.bytes.chunks()) {
    bytes += chunk.length;
    found.bytes.release?.(chunk);
  }
  sameCount(bytes, size, "bytes of an object");
}
