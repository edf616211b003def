// Puts of single objects, the change that is made most. One that finds others of its bucket under way waits for one of
// them to end, and goes with all that came meanwhile in one commit: what a commit costs is shared. It is all of them
// or none; where one cannot be made, each goes by itself.
import { compareKeys, keyBytes } from "../../model/key.ts";
import type { Database } from "../postgres/database.ts";
import { DatabaseAway, notDone } from "../postgres/errors.ts";
import type { Put } from "./change.ts";
import { calls } from "./queries.ts";

interface Waiting {
  readonly put: Put;
  readonly resolve: (outcome: string) => void;
  readonly reject: (error: unknown) => void;
}

interface Lane {
  readonly waiting: Waiting[];
  underWay: number;
}

/** Of one commit. */
const mostAtOnce = 64;
const mostBytesAtOnce = 1024 * 1024;
/** One writes its log while the other is on its way. */
const mostUnderWay = 2;

export type PutOne = (bucket: string, put: Put) => Promise<string>;

export function gatherPuts(database: Pick<Database, "commit">): PutOne {
  const lanes = new Map<string, Lane>();

  const commit = (bucket: string, puts: readonly Put[]) =>
    database.commit(calls.putAll, [bucket, ...columnsOf(puts)]);

  /** Nothing of them has happened. */
  async function eachAlone(bucket: string, group: readonly Waiting[]): Promise<void> {
    await Promise.all(group.map(({ put, resolve, reject }) => commit(bucket, [put]).then(resolve, reject)));
  }

  async function commitGroup(bucket: string, group: readonly Waiting[], lane: Lane): Promise<void> {
    try {
      const outcome = await commit(
        bucket,
        group.map(({ put }) => put),
      );
      if (outcome === "conflict" && group.length > 1) return await eachAlone(bucket, group);
      for (const { resolve } of group) resolve(outcome);
    } catch (error) {
      const isAway = error instanceof DatabaseAway;
      if (!isAway && group.length > 1) return await eachAlone(bucket, group);
      for (const { reject } of group) reject(error);
      // Puts that came after have waited as long, and were never sent: they fail now, without waiting again.
      if (isAway) for (const { reject } of lane.waiting.splice(0)) reject(notDone(error));
    }
  }

  async function commitOn(bucket: string, lane: Lane): Promise<void> {
    lane.underWay++;
    while (lane.waiting.length > 0) await commitGroup(bucket, takeGroup(lane.waiting), lane);
    lane.underWay--;
    if (lane.underWay === 0) lanes.delete(bucket);
  }

  return (bucket, put) =>
    new Promise((resolve, reject) => {
      const lane = lanes.get(bucket) ?? { waiting: [], underWay: 0 };
      lanes.set(bucket, lane);
      lane.waiting.push({ put, resolve, reject });
      if (lane.underWay < mostUnderWay) void commitOn(bucket, lane);
    });
}

/** Takes what may go in one commit: a key once only, and in the order of the keys. */
function takeGroup(waiting: Waiting[]): readonly Waiting[] {
  const group = new Map<string, Waiting>();
  let bytes = 0;
  for (let i = 0; i < waiting.length && group.size < mostAtOnce && bytes < mostBytesAtOnce; ) {
    const { put } = waiting[i]!;
    if (group.has(put.key)) {
      i++;
      continue;
    }
    group.set(put.key, waiting[i]!);
    bytes += put.record.length + (put.inline?.length ?? 0);
    waiting.splice(i, 1);
  }
  return [...group.values()].sort((a, b) => compareKeys(a.put.key, b.put.key));
}

/** As store.put_all takes them. */
function columnsOf(puts: readonly Put[]): readonly unknown[] {
  const keys = puts.map(({ key }) => keyBytes(key));
  const bytes = puts.flatMap(({ inline }, i) => (inline === null ? [keys[i]!] : [keys[i]!, inline]));
  return [
    puts.map(({ seen }) => seen),
    puts.map(({ version }) => version),
    puts.map(({ size }) => size),
    puts.map(({ record }) => record),
    puts.map(({ blob }) => blob),
    puts.map(({ stored }) => stored),
    keys.map(({ length }) => length),
    puts.map(({ inline }) => inline?.length ?? null),
    Buffer.concat(bytes),
  ];
}
