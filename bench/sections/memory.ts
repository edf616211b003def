// Section "memory": peak memory while a 1 GiB body is streamed, and the time to open a large store.
// Each measurement runs in a new process, so that earlier work does not affect it.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../src/index.ts";
import { streamBucket } from "../bodies.ts";
import type { Opened, Streamed, Task } from "../child.ts";
import { figure, interleave } from "../measure.ts";
import { type Context, MiB, makeRow, random, type Section } from "../section.ts";

export const memory: Section = {
  name: "memory",
  description: "memory for a stream of 1 GiB, and the time to open the large store",
  run,
};

async function run(context: Context): Promise<void> {
  await streams(context);
  await opens(context);
}

async function streams(context: Context): Promise<void> {
  const directory = join(context.directory, "store");
  const raw = join(context.directory, "raw");
  mkdirSync(directory);
  mkdirSync(raw);
  const store = await openStore(directory);
  await store.createBucket(streamBucket);
  await store.close();
  const bytes = 1024 * MiB;
  const seconds = new Map<Task["kind"], number[]>();
  const streamed = (kind: "put stream" | "get stream" | "write by hand" | "read by hand") => async () => {
    context.progress(kind);
    const child = context.children.start({
      kind,
      directory: kind.endsWith("by hand") ? raw : directory,
      bytes,
    });
    const said = (await child.said()) as Streamed;
    await child.ended();
    seconds.set(kind, [...(seconds.get(kind) ?? []), said.seconds]);
    return said.peakMiB;
  };
  const kinds = ["put stream", "write by hand", "get stream", "read by hand"] as const;
  // The first round of `interleave` fills the page cache and is discarded; a quick run skips it.
  const [put, write, get, read] = context.quick
    ? await once(kinds.map(streamed))
    : await interleave(3, kinds.map(streamed));
  const row = { size: bytes, lanes: 1, unit: "MiB", bar: { atMost: 64 } } as const;
  context.row(
    makeRow({ ...row, what: "put of a stream, memory" }, [put!, write!], [{ name: "md5 + write" }]),
  );
  context.row(makeRow({ ...row, what: "get of a stream, memory" }, [get!, read!], [{ name: "open + read" }]));
  const rate = (kind: Task["kind"]) => figure((seconds.get(kind) ?? []).map((time) => bytes / MiB / time));
  const speed = { size: bytes, lanes: 1, unit: "MiB/s" } as const;
  context.row(
    makeRow(
      { ...speed, what: "put of a stream" },
      [rate("put stream"), rate("write by hand")],
      [{ name: "md5 + write" }],
    ),
  );
  context.row(
    makeRow(
      { ...speed, what: "get of a stream" },
      [rate("get stream"), rate("read by hand")],
      [{ name: "open + read" }],
    ),
  );
  rmSync(raw, { recursive: true });
}

async function once(rounds: readonly (() => Promise<number>)[]) {
  const figures = [];
  for (const round of rounds) figures.push(figure([await round()]));
  return figures;
}

async function opens(context: Context): Promise<void> {
  const large = await context.largeStore?.();
  if (large === undefined) {
    context.note("Opening the large store is skipped; name this section with --only to include it.");
    return;
  }
  const { directory, bucket } = large;
  const open = async () => {
    const child = context.children.start({
      kind: "open",
      directory,
      bucket,
      key: large.key(random(large.objects)),
    });
    const said = (await child.said()) as Opened;
    await child.ended();
    return said.openMs + said.firstMs;
  };
  const openAfterKill = async () => {
    const writer = context.children.start({ kind: "write on", directory, bucket });
    await writer.said();
    await writer.kill();
    return open();
  };
  context.progress("open");
  const [clean, killed] = await interleave(context.pace.rounds, [open, openAfterKill]);
  const objects = large.objects.toLocaleString("en");
  const row = { unit: "ms", bar: { atMost: 1000 } } as const;
  context.row(makeRow({ ...row, what: `open ${objects} objects, first head` }, [clean!]));
  context.row(makeRow({ ...row, what: "the same after kill -9 of a writer" }, [killed!]));
  // Delete the objects of the killed writers, so that they do not affect churn, which runs next.
  const store = await openStore(directory);
  await store.bucket(bucket).delete(Array.from({ length: 64 }, (_, lane) => `written on/${lane}`));
  await store.close();
}
