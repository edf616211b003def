// Copies a whole store, including secrets and access keys, through the ports instead of the engine.
// Compares both sides before the target can be used. The next run resumes an interrupted copy.
import { storedBytes } from "../engine/maintenance/rate-limit.ts";
import type { CopyReport, CopyWork } from "../model/copy.ts";
import { compareStores } from "./compare.ts";
import { type CopyContext, createCopyContext, type Side } from "./context.ts";
import { checkSourceIntegrity, copyBucket, dropBuckets } from "./copy-bucket.ts";
import { claimTarget, copyDocuments, releaseTarget } from "./documents.ts";

export interface CopyOptions extends CopyWork {
  /** Description of the source without passwords. A run that resumes must have the same source. */
  readonly source: string;
  /** "verify": only compares both sides and writes nothing. */
  readonly only?: "verify" | undefined;
  /** "update": a target with a completed copy of the same source is brought up to date. */
  readonly existing?: "update" | undefined;
  readonly now?: (() => number) | undefined;
  readonly concurrency?: number | undefined;
}

const defaultConcurrency = 16;

export async function copyAll(from: Side, to: Side, options: CopyOptions): Promise<CopyReport> {
  const { source, only, existing, now = Date.now, concurrency = defaultConcurrency } = options;
  const context = createCopyContext(from, to, { work: options, now, concurrency });
  if (only === undefined) await claimTarget(to, source, existing);
  const total = await storedBytes(from);
  if (only === undefined) {
    context.expect("copy", total);
    await copyEverything(context);
  }
  context.expect("verify", total);
  await compareStores(context);
  const { counts } = context;
  // Damage in the source does not block the target: no later run could copy the damaged items
  // either.
  if (only === undefined && counts.differences === 0) await releaseTarget(to, source, now());
  return { ...counts };
}

async function copyEverything(context: CopyContext): Promise<void> {
  const { records } = context.from;
  await checkSourceIntegrity(context, records, undefined);
  const buckets = await records.buckets("sound");
  await dropBuckets(context, buckets);
  for (const bucket of buckets) {
    await copyBucket(context, bucket);
    await checkSourceIntegrity(context, records, bucket.name);
  }
  await copyDocuments(context);
}
