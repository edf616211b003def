// Fits a growth law to measured sizes of records and predicts disk and memory for more objects.
const page = 8192;
const GiB = 1024 ** 3;
const TiB = 1024 ** 4;

/** Bytes and index depth, measured at one number of objects. */
export interface Growth {
  readonly objects: number;
  /** Bytes of the tables that have a row per object. */
  readonly tableBytes: number;
  readonly indexBytes: number;
  /** Number of pages of the objects' index that are read to find one row. */
  readonly depth: number;
}

export interface Law {
  readonly tableBytesEach: number;
  readonly indexBytesEach: number;
  /** Entries per index page, computed from the size of the largest measured index. */
  readonly fanOut: number;
}

/** Fits a line through the smallest and the largest measured size: bytes grow linearly. */
export function fitLaw(measured: readonly Growth[], objectsIndexBytes: number): Law {
  const first = measured[0]!;
  const last = measured.at(-1)!;
  const slope = (of: (growth: Growth) => number) => (of(last) - of(first)) / (last.objects - first.objects);
  return {
    tableBytesEach: slope((growth) => growth.tableBytes),
    indexBytesEach: slope((growth) => growth.indexBytes),
    fanOut: last.objects / (objectsIndexBytes / page),
  };
}

export function depthOf(objects: number, { fanOut }: Law): number {
  return Math.max(1, Math.ceil(Math.log(objects) / Math.log(fanOut)));
}

/** Disk and memory of a database server, in bytes. */
export interface Server {
  readonly disk: number;
  readonly memory: number;
}

export const usualServer: Server = { disk: 4 * TiB, memory: 256 * GiB };
/** Usable share of the disk; the rest is for the WAL, for vacuum and for growth. */
const usedDisk = 0.6;
/** Share of the memory that caches index pages. */
const usedMemory = 0.5;

export interface Plan {
  readonly objects: number;
  readonly bytes: number;
  readonly indexBytes: number;
  /** Bytes of index pages above the leaves. With these in memory, a point read reads two pages. */
  readonly innerBytes: number;
  readonly byDisk: number;
  readonly byMemory: number;
  /** Index depth in one partition. */
  readonly depth: number;
}

export function planFor(objects: number, law: Law, server: Server): Plan {
  const bytes = objects * (law.tableBytesEach + law.indexBytesEach);
  const indexBytes = objects * law.indexBytesEach;
  const byDisk = Math.ceil(bytes / (server.disk * usedDisk));
  const byMemory = Math.ceil(indexBytes / (server.memory * usedMemory));
  return {
    ...{ objects, bytes, indexBytes, byDisk, byMemory },
    innerBytes: indexBytes / law.fanOut,
    depth: depthOf(objects / Math.max(byDisk, 1), law),
  };
}

export function lawLines(law: Law, server: Server, counts: readonly number[]): string[] {
  const { tableBytesEach: table, indexBytesEach: index, fanOut } = law;
  return [
    "The law, N objects:",
    `  bytes(N) = N × (${table.toFixed(0)} B of rows + ${index.toFixed(0)} B of indexes)`,
    `  depth(N) = ⌈ln N ÷ ln ${fanOut.toFixed(0)}⌉ pages, ${fanOut.toFixed(0)} entries a page`,
    `  inner(N) = index(N) ÷ ${fanOut.toFixed(0)}`,
    `  partitions by disk = ⌈bytes(N) ÷ (${usedDisk} × ${size(server.disk)})⌉`,
    `  partitions with every index page in memory = ⌈index(N) ÷ (${usedMemory} × ${size(server.memory)})⌉`,
    ...counts.map((objects) => {
      const plan = planFor(objects, law, server);
      return [
        `  N = 10^${Math.log10(objects)}: ${size(plan.bytes)}, of it indexes ${size(plan.indexBytes)}, their inner pages`,
        `${size(plan.innerBytes)}; ${plan.byDisk.toLocaleString("en")} by disk, ${plan.byMemory.toLocaleString("en")} by memory;`,
        `depth ${plan.depth} in each by disk`,
      ].join(" ");
    }),
  ];
}

function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[step]}`;
}
