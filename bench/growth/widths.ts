// Measures rates by concurrency and memory by open streams.
import { openStore } from "../../src/index.ts";
import { repeated, streamBucket } from "../bodies.ts";
import type { Held } from "../child.ts";
import type { Line } from "../draw/lines.ts";
import { figure, forEach, interleave, perSecond } from "../measure.ts";
import { type Context, KiB, MiB, makeRow, present, random } from "../section.ts";

const objects = 10_000;
const body = Buffer.alloc(KiB, 3);

export async function concurrencyRows(context: Context, directory: string): Promise<Line[]> {
  const store = await openStore(directory);
  await store.createBucket("wide");
  const bucket = store.bucket("wide");
  await forEach(objects, 256, (index) => bucket.put(`object-${index}`, body));
  const anyKey = () => `object-${random(objects)}`;
  const operations = {
    head: async () => present(await bucket.head(anyKey()), "an object"),
    get: async () => present(await bucket.get(anyKey()), "an object").arrayBuffer(),
    put: () => bucket.put(anyKey(), body),
  };
  const widths = context.quick ? [1, 64, 1024] : [1, 4, 16, 64, 256, 1024];
  const lines: Line[] = [];
  for (const [what, operation] of Object.entries(operations)) {
    context.progress(`${what} at 1 to 1,024 at once`);
    const rounds = widths.map(
      (lanes) => () => perSecond({ lanes, seconds: context.pace.seconds }, operation),
    );
    const figures = await interleave(context.pace.rounds, rounds);
    for (const [index, lanes] of widths.entries()) {
      context.row(makeRow({ what: `${what}, at once`, size: KiB, lanes, unit: "op/s" }, [figures[index]!]));
    }
    lines.push({ name: what, points: widths.map((lanes, index) => [lanes, figures[index]!.median]) });
  }
  await store.close();
  return lines;
}

/** Measures the memory of open streams, in a new process for each number of streams. */
export async function streamRows(context: Context, directory: string): Promise<Line[]> {
  const store = await openStore(directory);
  await store.createBucket(streamBucket);
  await store.bucket(streamBucket).put("held", repeated(8 * MiB));
  await store.close();
  const counts = context.quick ? [16, 256] : [16, 64, 256, 1024];
  const lines: Line[] = [];
  for (const kind of ["get", "put"] as const) {
    const points: [number, number][] = [];
    for (const streams of counts) {
      context.progress(`${streams} streams of ${kind} held open`);
      const heard: number[] = [];
      for (let round = 0; round < 3; round++) {
        const child = context.children.start({ kind: `hold ${kind}`, directory, streams });
        heard.push(((await child.said()) as Held).KiBEach);
        await child.ended();
      }
      const measured = figure(heard);
      context.row(makeRow({ what: `${kind} held open, each`, lanes: streams, unit: "KiB" }, [measured]));
      points.push([streams, (measured.median * streams) / KiB]);
    }
    lines.push({ name: kind, points });
  }
  return lines;
}
