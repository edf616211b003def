// Metrics added up over fixed intervals, as they are stored: what happened in a minute or in half an
// hour, by front end. Values that are zero are left out.
import { isCount, isFields, isList } from "../model/shape.ts";
import type { FrontEnd } from "./exchange.ts";
import { secondsBounds } from "./metrics.ts";

export const frontEnds: readonly FrontEnd[] = ["s3", "script", "public", "console", "socket"];

/** Counts of requests, of errors, of bytes in and out, then of requests by duration. */
export type BinCounts = readonly number[];

export const binFields = ["requests", "clientErrors", "serverErrors", "bytesIn", "bytesOut"] as const;
const maxCounts = binFields.length + secondsBounds.length + 1;

export interface Bin {
  /** Start of the interval, in milliseconds since the epoch. */
  readonly at: number;
  /** By front end; front ends without requests are missing. */
  readonly counts: Readonly<Partial<Record<FrontEnd, BinCounts>>>;
  /** Bytes and objects in the store at the end of the interval. */
  readonly stored?: number | undefined;
  readonly objects?: number | undefined;
}

/** The two resolutions: how long an interval is, how many share a document, how long they stay. */
export const tiers = {
  minute: { prefix: "minute", length: 60_000, perDocument: 60, keep: 86_400_000 },
  halfHour: { prefix: "half-hour", length: 1_800_000, perDocument: 48, keep: 31 * 86_400_000 },
} as const;
export type Tier = keyof typeof tiers;

/** Adds two bins of the same interval. Of the gauges, the later bin's count. */
export function addBins(a: Bin, b: Bin): Bin {
  const counts: Partial<Record<FrontEnd, BinCounts>> = {};
  for (const frontEnd of frontEnds) {
    const [one, other] = [a.counts[frontEnd], b.counts[frontEnd]];
    if (one !== undefined || other !== undefined) counts[frontEnd] = addCounts(one ?? [], other ?? []);
  }
  return { at: a.at, counts, stored: b.stored ?? a.stored, objects: b.objects ?? a.objects };
}

export function addCounts(a: BinCounts, b: BinCounts): BinCounts {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? 0) + (b[i] ?? 0));
}

/** Removes the counts of `part` from `whole`, a bin of the same interval. */
export function subtractCounts(whole: Bin, part: Bin): Bin {
  const counts: Partial<Record<FrontEnd, BinCounts>> = {};
  for (const frontEnd of frontEnds) {
    const negative = part.counts[frontEnd]?.map((count) => -count) ?? [];
    counts[frontEnd] = addCounts(whole.counts[frontEnd] ?? [], negative).map((count) => Math.max(0, count));
  }
  return { ...whole, counts };
}

export function formatBins(bins: readonly Bin[]): string {
  return JSON.stringify({
    version: 1,
    bins: bins.map(({ at, counts, stored, objects }) => ({ at, ...counts, stored, objects })),
  });
}

export function parseBins(text: string, tier: { readonly perDocument: number }): readonly Bin[] {
  return parseDocument(text, tier, isStoredBin).map(toBin);
}

/** A document that this version cannot read counts as empty: charts then have a gap. */
export function parseDocument<B>(
  text: string,
  { perDocument }: { readonly perDocument: number },
  isBin: (value: unknown) => value is B,
): readonly B[] {
  if (text.length > maxDocumentLength) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isFields(value) || value.version !== 1) return [];
  const { bins } = value;
  return isList(bins, perDocument, isBin) ? bins : [];
}

export const maxDocumentLength = 256 * 1024;

type StoredBin = Readonly<Partial<Record<FrontEnd, BinCounts>>> & {
  readonly at: number;
  readonly stored?: number;
  readonly objects?: number;
};

function isStoredBin(value: unknown): value is StoredBin {
  if (!isFields(value) || !isCount(value.at)) return false;
  const isOptional = (one: unknown) => one === undefined || isCount(one);
  const areCounts = (one: unknown) => one === undefined || isList(one, maxCounts, isCount);
  return (
    isOptional(value.stored) && isOptional(value.objects) && frontEnds.every((name) => areCounts(value[name]))
  );
}

function toBin(stored: StoredBin): Bin {
  const counts: Partial<Record<FrontEnd, BinCounts>> = {};
  for (const name of frontEnds) if (stored[name] !== undefined) counts[name] = stored[name];
  return { at: stored.at, counts, stored: stored.stored, objects: stored.objects };
}
