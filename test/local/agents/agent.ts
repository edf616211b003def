// A process that opens a data directory and executes the commands of a test. It sends one reply to
// each command.
import { openStore, type StoreBucket, StoreError } from "../../../src/index.ts";
import { openEngine } from "../../../src/open.ts";
import { bytesOf, digestOf, streamOf, type Value } from "../../support/bodies.ts";

interface In {
  readonly bucket: string;
}
interface At extends In {
  readonly key: string;
}

export type Command =
  | ({ readonly do: "create bucket" | "delete bucket" | "list" } & In)
  | { readonly do: "list buckets" | "sweep" | "close" | "commit for others" | "count workers" }
  | ({ readonly do: "get" | "head" | "begin get" } & At)
  | ({ readonly do: "delete"; readonly keys: readonly string[] } & In)
  | ({ readonly do: "put"; readonly value: Value } & At)
  /** Starts a put whose stream pauses half way until the test sends "finish put". */
  | ({ readonly do: "begin put"; readonly value: Value } & At)
  | ({ readonly do: "put parts"; readonly value: Value; readonly partSize: number } & At)
  | { readonly do: "finish put" | "finish get" | "end storm" }
  /** Starts one create-only put for each value, concurrently. */
  | ({ readonly do: "create only"; readonly values: readonly Value[] } & At)
  /** Puts keys in sequence until one is refused. */
  | ({ readonly do: "fill"; readonly prefix: string; readonly size: number } & In)
  /** Starts writers that put until they are refused; replies when each has put an object. */
  | ({ readonly do: "begin storm"; readonly writers: number; readonly size: number } & In)
  /** Puts keys into the buckets in turn, several at a time; replies with the number of refusals. */
  | {
      readonly do: "put many";
      readonly buckets: readonly string[];
      readonly prefix: string;
      readonly count: number;
      readonly concurrency: number;
      readonly size: number;
    }
  /** Creates or deletes the bucket repeatedly; replies with the number of successes. */
  | ({ readonly do: "keep creating" | "keep deleting"; readonly times: number } & In);

export interface Refused {
  readonly name: string;
  readonly code: number | undefined;
  readonly message: string;
}

export interface Filled {
  readonly keys: readonly string[];
  readonly refused: Refused;
}

export interface Stormed {
  /** For each key, the name of its last acknowledged value. */
  readonly acknowledged: Readonly<Record<string, string>>;
  /** Number of puts acknowledged after the first refusal. */
  readonly late: number;
  readonly refusals: readonly Refused[];
}

export interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly refused?: Refused;
}

let workersStarted = 0;
process.on("worker", () => workersStarted++);

const store = await openStore(process.argv[2]!);
let putting: { finish(): Promise<unknown> } | undefined;
let storming: { ended: Promise<Stormed> } | undefined;
let reading: { finish(): Promise<string> } | undefined;

async function perform(command: Command): Promise<unknown> {
  switch (command.do) {
    case "create bucket":
      await store.createBucket(command.bucket);
      return;
    case "delete bucket":
      return store.deleteBucket(command.bucket);
    case "list buckets":
      return (await store.listBuckets()).map(({ name }) => name);
    case "list":
      return (await store.bucket(command.bucket).list()).objects.map(({ key }) => key);
    case "sweep":
      return store.sweep();
    case "commit for others":
      return (await openEngine(process.argv[2]!)).commitForOthers();
    case "count workers":
      return workersStarted;
    case "close":
      return store.close();
    case "head":
      return (await store.bucket(command.bucket).head(command.key))?.size ?? null;
    case "get": {
      const found = await store.bucket(command.bucket).get(command.key);
      return found === null ? null : digestOf(await found.bytes());
    }
    case "delete":
      return store.bucket(command.bucket).delete([...command.keys]);
    case "put": {
      const { bucket, key, value } = command;
      await store.bucket(bucket).put(key, bytesOf(key, value));
      return;
    }
    case "put parts":
      return putParts(store.bucket(command.bucket), command.key, command.value, command.partSize);
    case "begin put":
      putting = await beginPut(store.bucket(command.bucket), command.key, command.value);
      return;
    case "finish put":
      return putting!.finish();
    case "begin get":
      reading = await beginGet(store.bucket(command.bucket), command.key);
      return;
    case "finish get":
      return reading!.finish();
    case "create only":
      return createOnly(store.bucket(command.bucket), command.key, command.values);
    case "fill":
      return fill(store.bucket(command.bucket), command.prefix, command.size);
    case "begin storm":
      storming = await beginStorm(store.bucket(command.bucket), command.writers, command.size);
      return;
    case "end storm":
      return storming!.ended;
    case "put many":
      return putMany(command);
    case "keep creating":
      return countSuccess(command.times, 10073, () => store.createBucket(command.bucket));
    case "keep deleting":
      return countSuccess(command.times, 10006, () => store.deleteBucket(command.bucket));
  }
}

async function putParts(bucket: StoreBucket, key: string, value: Value, partSize: number): Promise<void> {
  const bytes = bytesOf(key, value);
  const upload = await bucket.createMultipartUpload(key);
  const parts = [];
  for (let at = 0; at < bytes.length; at += partSize) {
    parts.push(await upload.uploadPart(parts.length + 1, bytes.subarray(at, at + partSize)));
  }
  await upload.complete(parts);
}

async function beginPut(bucket: StoreBucket, key: string, value: Value) {
  const half = value.size / 2;
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let put: Promise<unknown> = Promise.resolve();
  await new Promise<void>((held) => {
    const stream = streamOf(bytesOf(key, value), {
      async before(offset) {
        if (offset < half) return;
        held();
        await released;
      },
    });
    put = bucket.put(key, stream).then(() => undefined);
    put.catch(() => {});
  });
  return {
    finish() {
      release();
      return put;
    },
  };
}

async function beginGet(bucket: StoreBucket, key: string) {
  const found = await bucket.get(key);
  const reader = found!.body.getReader();
  const chunks = [(await reader.read()).value!];
  return {
    async finish() {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return digestOf(Buffer.concat(chunks));
        chunks.push(value);
      }
    },
  };
}

async function createOnly(bucket: StoreBucket, key: string, values: readonly Value[]): Promise<string[]> {
  const outcomes = await Promise.all(
    values.map((value) => bucket.put(key, bytesOf(key, value), { onlyIf: { etagDoesNotMatch: "*" } })),
  );
  return values.filter((_, i) => outcomes[i] !== null).map(({ name }) => name);
}

async function fill(bucket: StoreBucket, prefix: string, size: number): Promise<Filled> {
  const keys: string[] = [];
  for (;;) {
    const key = `${prefix}${String(keys.length).padStart(6, "0")}`;
    try {
      await bucket.put(key, bytesOf(key, { name: "fill", size }));
    } catch (error) {
      return { keys, refused: refusalOf(error) };
    }
    keys.push(key);
  }
}

async function beginStorm(bucket: StoreBucket, writers: number, size: number) {
  const acknowledged: Record<string, string> = {};
  const refusals: Refused[] = [];
  let late = 0;
  async function write(key: string, begun: () => void): Promise<void> {
    try {
      for (let n = 0; ; n++) {
        await bucket.put(key, bytesOf(key, { name: String(n), size }));
        acknowledged[key] = String(n);
        if (refusals.length > 0) late++;
        begun();
      }
    } catch (error) {
      refusals.push(refusalOf(error));
    }
  }
  const running: Promise<void>[] = [];
  await Promise.all(
    Array.from({ length: writers }, (_, i) => {
      return new Promise<void>((begun) => {
        running.push(write(`storm ${i}`, begun));
      });
    }),
  );
  return { ended: Promise.all(running).then((): Stormed => ({ acknowledged, late, refusals })) };
}

async function putMany(command: Command & { readonly do: "put many" }): Promise<number> {
  const { buckets, prefix, count, concurrency, size } = command;
  let next = 0;
  let refused = 0;
  async function work(): Promise<void> {
    for (let i = next++; i < count; i = next++) {
      try {
        await store.bucket(buckets[i % buckets.length]!).put(`${prefix} ${i}`, Buffer.alloc(size));
      } catch (error) {
        if (refusalOf(error).code !== quotaExceeded) throw error;
        refused++;
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return refused;
}

const quotaExceeded = 10074;

async function countSuccess(times: number, expected: number, attempt: () => Promise<unknown>) {
  let succeeded = 0;
  for (let i = 0; i < times; i++) {
    try {
      await attempt();
      succeeded++;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== expected) throw error;
    }
  }
  return succeeded;
}

function refusalOf(error: unknown): Refused {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, message, code: error instanceof StoreError ? error.code : undefined };
}

process.on("message", ({ id, command }: { id: number; command: Command }) => {
  perform(command).then(
    (result) => process.send!({ id, result: result ?? null } satisfies Reply),
    (error: unknown) => process.send!({ id, refused: refusalOf(error) } satisfies Reply),
  );
});
// The agent exits when its parent process ends, for any reason.
process.once("disconnect", () => process.exit());
process.send!({ id: 0 } satisfies Reply);
