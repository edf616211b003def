// Chooses where bits are flipped: anywhere, and more often where chance would hardly hit.
import { basename } from "node:path";
import type { Random } from "../random.ts";
import { historyKeys } from "./history.ts";
import { deleted, storedObjects } from "./store.ts";

export interface Spot {
  readonly kind: string;
  readonly path: string;
  readonly offset: number;
  readonly mask: number;
}

interface Span {
  readonly path: string;
  readonly start: number;
  readonly length: number;
}

const pageBytes = 4096;

export type Targets = ReadonlyMap<string, readonly Span[]>;

export function findTargets(files: ReadonlyMap<string, Buffer>): Targets {
  const targets = new Map<string, Span[]>();
  const add = (kind: string, span: Span) => {
    if (span.length > 0) targets.set(kind, [...(targets.get(kind) ?? []), span]);
  };
  for (const [path, bytes] of files) {
    const all = { path, start: 0, length: bytes.length };
    if (path.includes("/segments/")) {
      add("segment", all);
    } else if (path.includes("/blobs/")) {
      add("file", all);
      // The file ends with the block checksums, four bytes per block.
      const blocks = Math.ceil(bytes.length / (256 + 4));
      add("file's checksums", { path, start: Math.max(0, bytes.length - blocks * 4), length: blocks * 4 });
    } else if (basename(path) === "registry.db") {
      add("registry", all);
      for (const span of pageHeads(path, bytes)) add("registry's pages", span);
      for (const text of ["rotten", "settled", "the text of"])
        for (const span of occurrences(path, bytes, text, 90)) add("registry's rows", span);
    } else if (basename(path) === "records.db") {
      add("index", all);
      for (const span of pageHeads(path, bytes)) add("pages", span);
      for (const [kind, span] of rows(path, bytes)) add(kind, span);
    }
  }
  return targets;
}

/** Returns the spans of header, cell pointers and first cells of each page. */
function pageHeads(path: string, bytes: Buffer): Span[] {
  const spans: Span[] = [];
  for (let page = 0; page < bytes.length; page += pageBytes) {
    const start = page === 0 ? 100 : page;
    const cells = bytes.readUInt16BE(start + 3);
    spans.push({ path, start: page, length: start - page + 12 + 2 * Math.min(cells, 500) });
    const isInterior = bytes[start] === 2 || bytes[start] === 5;
    if (isInterior) spans.push({ path, start: page, length: pageBytes });
  }
  return spans;
}

function* rows(path: string, bytes: Buffer): Generator<[kind: string, span: Span]> {
  for (const { key, bytes: body, home } of storedObjects) {
    for (const span of occurrences(path, bytes, key, key.length)) yield ["keys", span];
    for (const span of occurrences(path, bytes, `[1,"${key}"`, key.length + 300)) yield ["records", span];
    if (home === "inline" && body.length > 0)
      for (const span of occurrences(path, bytes, body, body.length + 4)) yield ["bodies", span];
  }
  for (const key of deleted)
    for (const span of occurrences(path, bytes, key, key.length)) yield ["deleted keys", span];
  for (const key of historyKeys) {
    for (const span of occurrences(path, bytes, key, key.length + 60)) yield ["keys of versions", span];
    for (const span of occurrences(path, bytes, `[1,"${key}"`, key.length + 300))
      yield ["records of versions", span];
  }
  for (const { index } of bytes.toString("latin1").matchAll(blobIds))
    yield ["blob ids", { path, start: Math.max(0, index - 12), length: Math.min(70, bytes.length - index) }];
  for (const span of occurrences(path, bytes, '"on"', 300)) yield ["settings", span];
  for (const span of occurrences(path, bytes, "[1,[[1,", 150)) yield ["lists of parts", span];
  for (const span of occurrences(path, bytes, "in flight/", 250)) yield ["uploads", span];
  for (const span of occurrences(path, bytes, "CREATE TABLE", 200)) yield ["schema", span];
}

const blobIds = /[0-9a-f]{16}\.[0-9a-f]{16}\.\d+/g;

function occurrences(path: string, bytes: Buffer, text: string | Buffer, length: number): Span[] {
  const spans: Span[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    // Include the row header before the text.
    const start = Math.max(0, at - 20);
    spans.push({ path, start, length: Math.min(length + at - start, bytes.length - start) });
  }
  return spans;
}

export function chooseSpot(targets: Targets, random: Random): Spot {
  const kind = random.pick([...targets.keys()]);
  const { path, start, length } = random.pick(targets.get(kind)!);
  // Mostly one bit, sometimes a whole byte.
  const mask = random.below(4) === 0 ? random.between(1, 255) : 1 << random.below(8);
  return { kind, path, offset: start + random.below(length), mask };
}
