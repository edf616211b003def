// The history of metrics in the store, so that charts survive a restart: documents of bins, one for
// each hour of minutes and one for each day of half hours. All servers of a store add to the same.
import { addBins, type Bin, formatBins, parseBins, type Tier, tiers } from "./history-bins.ts";

/** How bins of one kind are added up and stored. */
export interface BinFormat<B extends { readonly at: number }> {
  /** Kind of the documents. */
  readonly kind: string;
  /** Adds two bins of the same interval. */
  add(a: B, b: B): B;
  format(bins: readonly B[]): string;
  parse(text: string, tier: { readonly perDocument: number }): readonly B[];
}

/** The part of the store's documents that the history needs. */
export interface HistoryDocuments {
  get(kind: string, name: string): Promise<{ readonly text: string; readonly revision: number } | undefined>;
  list(kind: string): Promise<readonly { readonly name: string; readonly text: string }[]>;
  put(
    kind: string,
    name: string,
    text: string,
    expectedRevision: number | undefined,
  ): Promise<"committed" | "conflict">;
  delete(kind: string, name: string): Promise<boolean>;
}

export interface BinArchive<B extends { readonly at: number }> {
  /** Adds what happened until `time` to the interval of that time. */
  add(time: number, increase: Omit<B, "at">): void;
  /** Stores what was added. Half hours are stored less often, unless all are asked for. */
  flush(now: number, which: "due" | "all"): Promise<void>;
  /** Returns the bins since a time, oldest first, with those that are not stored yet. */
  read(tier: Tier, since: number, now: number): Promise<readonly B[]>;
}

export type HistoryArchive = BinArchive<Bin>;

const serverKind = "metrics history";
const serverFormat: BinFormat<Bin> = {
  ...{ kind: serverKind, add: addBins, format: formatBins, parse: parseBins },
};
const maxAttempts = 8;
/** Half hours are written this often, so that an idle server commits little. */
const halfHourMilliseconds = 300_000;

export function createHistoryArchive(documents: HistoryDocuments): HistoryArchive {
  return createBinArchive(documents, serverFormat);
}

export function createBinArchive<B extends { readonly at: number }>(
  documents: HistoryDocuments,
  format: BinFormat<B>,
): BinArchive<B> {
  const pending: Record<Tier, Map<number, B>> = { minute: new Map(), halfHour: new Map() };
  let halfHoursFlushed = Number.NEGATIVE_INFINITY;
  let newest = "";

  function addTo(bins: Map<number, B>, bin: B): void {
    const earlier = bins.get(bin.at);
    bins.set(bin.at, earlier === undefined ? bin : format.add(earlier, bin));
  }

  async function flushTier(tier: Tier, now: number): Promise<void> {
    for (const [name, bins] of groupByDocument(tier, [...pending[tier].values()])) {
      // Taken out before the write: what is added meanwhile belongs to the next flush.
      for (const { at } of bins) pending[tier].delete(at);
      try {
        await addToDocument(tier, name, bins);
      } catch (error) {
        // Older than what is kept: the store was unavailable for that long.
        for (const bin of bins) if (now - bin.at <= tiers[tier].keep) addTo(pending[tier], bin);
        throw error;
      }
      if (name === newest) continue;
      newest = name;
      await removeOld(documents, format.kind, now);
    }
  }

  /** Other servers add to the same document, so a conflict is expected and the addition repeated. */
  async function addToDocument(tier: Tier, name: string, bins: readonly B[]): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const stored = await documents.get(format.kind, name);
      const merged = new Map(format.parse(stored?.text ?? "", tiers[tier]).map((bin) => [bin.at, bin]));
      for (const bin of bins) addTo(merged, bin);
      const text = format.format(sortBins(merged));
      if ((await documents.put(format.kind, name, text, stored?.revision)) === "committed") return;
    }
    throw new Error("other servers are writing the history of metrics all the time");
  }

  return {
    add(time, increase) {
      for (const tier of ["minute", "halfHour"] as const) {
        const { length } = tiers[tier];
        addTo(pending[tier], { ...increase, at: Math.floor(time / length) * length } as B);
      }
    },
    async flush(now, which) {
      await flushTier("minute", now);
      if (which === "due" && Math.abs(now - halfHoursFlushed) < halfHourMilliseconds) return;
      halfHoursFlushed = now;
      await flushTier("halfHour", now);
    },
    async read(tier, since, now) {
      const merged = new Map<number, B>();
      const names = documentNames(tier, since, now);
      const stored = await Promise.all(names.map((name) => documents.get(format.kind, name)));
      const bins = stored.flatMap((found) => format.parse(found?.text ?? "", tiers[tier]));
      for (const bin of [...bins, ...pending[tier].values()]) {
        if (bin.at >= since && bin.at <= now) addTo(merged, bin);
      }
      return sortBins(merged);
    },
  };
}

function sortBins<B extends { readonly at: number }>(bins: ReadonlyMap<number, B>): B[] {
  return [...bins.values()].sort((a, b) => a.at - b.at);
}

function groupByDocument<B extends { readonly at: number }>(
  tier: Tier,
  bins: readonly B[],
): Map<string, B[]> {
  const groups = new Map<string, B[]>();
  for (const bin of bins) {
    const name = formatName(tier, bin.at);
    groups.set(name, [...(groups.get(name) ?? []), bin]);
  }
  return groups;
}

async function removeOld(documents: HistoryDocuments, kind: string, now: number): Promise<void> {
  for (const { name } of await documents.list(kind)) {
    const found = parseName(name);
    const { length, perDocument, keep } = tiers[found?.tier ?? "minute"];
    const span = length * perDocument;
    // A clock that was ahead may have left documents of the future.
    const isKept = found !== undefined && found.at + span >= now - keep && found.at <= now + keep;
    if (!isKept) await documents.delete(kind, name);
  }
}

/** Names of the documents that may have bins of a range. Older ones are removed. */
function documentNames(tier: Tier, since: number, now: number): string[] {
  const { length, perDocument, keep } = tiers[tier];
  const span = length * perDocument;
  const names: string[] = [];
  for (let at = Math.max(since, now - keep - span); at < now + span; at += span)
    names.push(formatName(tier, Math.min(at, now)));
  return [...new Set(names)];
}

/** `minute-000000494523`: the number of the document since the epoch. */
function formatName(tier: Tier, at: number): string {
  const { prefix, length, perDocument } = tiers[tier];
  return `${prefix}-${String(Math.floor(at / (length * perDocument))).padStart(12, "0")}`;
}

function parseName(name: string): { readonly tier: Tier; readonly at: number } | undefined {
  for (const tier of ["minute", "halfHour"] as const) {
    const { prefix, length, perDocument } = tiers[tier];
    const number = name.slice(prefix.length + 1);
    if (!name.startsWith(`${prefix}-`) || !/^\d{12}$/.test(number)) continue;
    return { tier, at: Number(number) * length * perDocument };
  }
  return undefined;
}
