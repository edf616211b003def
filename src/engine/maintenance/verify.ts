// Verification: walks all stored data at full speed and reports all damage.
import type { Context } from "../context.ts";
import type { Damage, VerifyOptions, VerifyReport } from "./reports.ts";
import { lastScrub } from "./scrub.ts";
import { walkStore } from "./verify-walk.ts";

export async function verify(context: Context, { onProgress }: VerifyOptions = {}): Promise<VerifyReport> {
  const damages: Damage[] = [];
  let objects = 0;
  let bytes = 0;
  for await (const { isObject, stored, damage } of walkStore(context, { depth: "pages" })) {
    if (damage !== undefined) damages.push(damage);
    bytes += stored;
    if (!isObject) continue;
    objects++;
    onProgress?.({ objects, bytes });
  }
  const buckets = (await context.records.buckets("sound")).length;
  // The walk has already reported a damaged document.
  const last = await lastScrub(context).catch(() => undefined);
  return { buckets, objects, bytes, damages, lastScrub: last };
}
