// The process on the failing disk: opens a directory, lets clients write and read, and reports
// every error. It continues after errors, so that an acknowledgement after a fault would be seen.
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import { openStore, type Store, StoreError } from "../../../src/index.ts";
import { createClient } from "../../../src/prove/kill/client.ts";
import type { WriterTask } from "../../../src/prove/kill/object-writer.ts";
import { createOperations } from "../../../src/prove/kill/operations.ts";
import { say } from "../../../src/prove/kill/run-until-killed.ts";
import { versionedBucket } from "../../../src/prove/kill/version-journal.ts";
import { bytesOf, KiB } from "../../support/bodies.ts";
import { createRandom } from "../../support/random.ts";

export interface Life extends WriterTask {
  readonly clients: number;
  readonly turns: number;
}

export type Command =
  | { readonly do: "open"; readonly life: Life }
  | { readonly do: "take turns" | "delete" | "probe" | "close" };

export interface Trouble {
  readonly name: string;
  readonly code: number | undefined;
  readonly message: string;
  /** The underlying error of the system or of SQLite. */
  readonly cause: string;
}

/** Messages sent in addition to the clients' reports. */
export type Tale =
  | {
      readonly told: "trouble";
      readonly trouble: Trouble;
      readonly while: "writing" | "reading" | "deleting";
    }
  | { readonly told: "torn"; readonly key: string }
  | { readonly told: "probed"; readonly troubles: readonly (Trouble | null)[] }
  | { readonly told: "over"; readonly trouble?: Trouble };

let store: Store | undefined;
let life: Life;
/** Id of the last write outside the clients' turns; higher than any id of the clients. */
let id = 1_000_000;

async function perform(command: Command): Promise<void> {
  switch (command.do) {
    case "open":
      life = command.life;
      store = await openStore(life.directory);
      return;
    case "take turns":
      await Promise.all(createOperations(store!, life, life.clients).map(takeTurns));
      return;
    case "delete":
      // In a versioned bucket, deletes write delete markers, for which a full disk has no space.
      for (const name of life.buckets) if (name !== versionedBucket) await deleteHalf(name);
      await attempt("deleting", () => store!.sweep());
      return;
    case "probe":
      say({ told: "probed", troubles: await probe(life.buckets[0]!) } satisfies Tale);
      return;
    case "close":
      await store!.close();
  }
}

async function takeTurns(takeTurn: () => Promise<void>, index: number): Promise<void> {
  const random = createRandom(life.seed + 500 + index);
  const name = life.buckets[index % life.buckets.length]!;
  for (let turn = 0; turn < life.turns; turn++) {
    await attempt("writing", takeTurn);
    await attempt("reading", () => readOne(name, `client ${index}/key ${random.below(4)}`));
  }
}

async function attempt(during: "writing" | "reading" | "deleting", work: () => Promise<unknown>) {
  try {
    await work();
  } catch (error) {
    say({ told: "trouble", trouble: troubleOf(error), while: during } satisfies Tale);
  }
}

async function readOne(name: string, key: string): Promise<void> {
  const bytes = await (await store!.bucket(name).get(key))?.bytes();
  if (bytes === undefined || bytes.length < 100) return;
  // A body contains the name of its value, so a wrong or partial body is detected.
  const value = / ([\d.]+) /.exec(
    Buffer.from(bytes.buffer, bytes.byteOffset, 200 > bytes.length ? bytes.length : 200).toString(),
  );
  const isWhole = value !== null && bytesOf(key, { name: value[1]!, size: bytes.length }).equals(bytes);
  if (!isWhole) say({ told: "torn", key } satisfies Tale);
}

/** Deletes keys one at a time, so that each delete needs disk space of its own. */
async function deleteHalf(name: string): Promise<void> {
  const { objects } = await store!.bucket(name).list();
  const client = createClient(store!.bucket(name), name, () => id++);
  for (const { key } of objects.filter((_, i) => i % 2 === 0)) {
    await attempt("deleting", () => client.remove([key]));
  }
}

async function probe(name: string): Promise<(Trouble | null)[]> {
  const client = createClient(store!.bucket(name), name, () => id++);
  const values = [300, 20 * KiB].map((size) => ({ name: `${life.round}.${id}`, size }));
  const works = [
    ...values.map((value, i) => () => client.put(`probe ${i}`, value, bytesOf(`probe ${i}`, value))),
    () => client.remove(["probe 0"]),
  ];
  const troubles: (Trouble | null)[] = [];
  for (const work of works) {
    troubles.push(
      await work().then(
        () => null,
        (error: unknown) => troubleOf(error),
      ),
    );
  }
  return troubles;
}

function troubleOf(error: unknown): Trouble {
  const { name, message, cause } = error instanceof Error ? error : new Error(String(error));
  return {
    name,
    message,
    cause: inspect(cause, { depth: 0 }).slice(0, 700),
    code: error instanceof StoreError ? error.code : undefined,
  };
}

for await (const line of createInterface(process.stdin)) {
  const trouble = await perform(JSON.parse(line) as Command).then(
    () => undefined,
    (error: unknown) => troubleOf(error),
  );
  say({ told: "over", ...(trouble === undefined ? {} : { trouble }) } satisfies Tale);
}
