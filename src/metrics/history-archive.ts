// The history of metrics in the store, so that charts survive a restart: documents of bins, one for
// each hour of minutes and one for each day of half hours. All servers of a store add to the same.
import { addBins, type Bin, formatBins, parseBins, type Tier, tiers } from "./history-bins.ts";

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

export interface HistoryArchive {
  /** Adds what happened until `time` to the interval of that time. */
  add(time: number, increase: Omit<Bin, "at">): void;
  /** Stores what was added. Half hours are stored less often, unless all are asked for. */
  flush(now: number, which: "due" | "all"): Promise<void>;
  /** Returns the bins since a time, oldest first, with those that are not stored yet. */
  read(tier: Tier, since: number, now: number): Promise<readonly Bin[]>;
}

const kind = "metrics history";
const maxAttempts = 8;
/** Half hours are written this often, so that an idle server commits little. */
const halfHourMilliseconds = 300_000;

export function createHistoryArchive(documents: HistoryDocuments): HistoryArchive {
  const pending: Record<Tier, Map<number, Bin>> = { minute: new Map(), halfHour: new Map() };
  let halfHoursFlushed = Number.NEGATIVE_INFINITY;
  let newest = "";

  function addTo(tier: Tier, bin: Bin): void {
    const earlier = pending[tier].get(bin.at);
    pending[tier].set(bin.at, earlier === undefined ? bin : addBins(earlier, bin));
  }

  async function flushTier(tier: Tier, now: number): Promise<void> {
    for (const [name, bins] of groupByDocument(tier, [...pending[tier].values()])) {
      // Taken out before the write: what is added meanwhile belongs to the next flush.
      for (const { at } of bins) pending[tier].delete(at);
      try {
        await addToDocument(documents, { tier, name, bins });
      } catch (error) {
        // Older than what is kept: the store was unavailable for that long.
        for (const bin of bins) if (now - bin.at <= tiers[tier].keep) addTo(tier, bin);
        throw error;
      }
      if (name === newest) continue;
      newest = name;
      await removeOld(documents, now);
    }
  }

  return {
    add(time, increase) {
      for (const tier of ["minute", "halfHour"] as const) {
        const { length } = tiers[tier];
        addTo(tier, { at: Math.floor(time / length) * length, ...increase });
      }
    },
    async flush(now, which) {
      await flushTier("minute", now);
      if (which === "due" && Math.abs(now - halfHoursFlushed) < halfHourMilliseconds) return;
      halfHoursFlushed = now;
      await flushTier("halfHour", now);
    },
    async read(tier, since, now) {
      const merged = new Map<number, Bin>();
      const add = (bin: Bin) => {
        if (bin.at < since || bin.at > now) return;
        const earlier = merged.get(bin.at);
        merged.set(bin.at, earlier === undefined ? bin : addBins(earlier, bin));
      };
      for (const { name, text } of await documents.list(kind)) {
        if (parseName(name)?.tier === tier) for (const bin of parseBins(text, tiers[tier])) add(bin);
      }
      for (const bin of pending[tier].values()) add(bin);
      return [...merged.values()].sort((a, b) => a.at - b.at);
    },
  };
}

interface Addition {
  readonly tier: Tier;
  readonly name: string;
  readonly bins: readonly Bin[];
}

/** Other servers add to the same document, so a conflict is expected and the addition repeated. */
async function addToDocument(documents: HistoryDocuments, { tier, name, bins }: Addition): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const stored = await documents.get(kind, name);
    const merged = new Map(parseBins(stored?.text ?? "", tiers[tier]).map((bin) => [bin.at, bin]));
    for (const bin of bins) {
      const earlier = merged.get(bin.at);
      merged.set(bin.at, earlier === undefined ? bin : addBins(earlier, bin));
    }
    const sorted = [...merged.values()].sort((a, b) => a.at - b.at);
    if ((await documents.put(kind, name, formatBins(sorted), stored?.revision)) === "committed") return;
  }
  throw new Error("other servers are writing the history of metrics all the time");
}

function groupByDocument(tier: Tier, bins: readonly Bin[]): Map<string, Bin[]> {
  const groups = new Map<string, Bin[]>();
  for (const bin of bins) {
    const name = formatName(tier, bin.at);
    groups.set(name, [...(groups.get(name) ?? []), bin]);
  }
  return groups;
}

async function removeOld(documents: HistoryDocuments, now: number): Promise<void> {
  for (const { name } of await documents.list(kind)) {
    const found = parseName(name);
    const { length, perDocument, keep } = tiers[found?.tier ?? "minute"];
    const span = length * perDocument;
    // A clock that was ahead may have left documents of the future.
    const isKept = found !== undefined && found.at + span >= now - keep && found.at <= now + keep;
    if (!isKept) await documents.delete(kind, name);
  }
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
