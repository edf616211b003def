// The process that opens the directory after a kill: reports the time from the start of opening to
// the first answer, then reads all other acknowledged keys.
import { openStore, type Store } from "../../../src/index.ts";
import { bytesOf, type Value } from "../../support/bodies.ts";
import { largeBucket } from "./store.ts";

export interface Expected {
  readonly key: string;
  /** The key must hold one of these values. */
  readonly values: readonly (Value | null)[];
}

export interface OpenTask {
  readonly directory: string;
  /** Expected values by key; the first key is read immediately after opening. */
  readonly expected: readonly Expected[];
}

export interface OpenReport {
  /** Time from the start of opening to the first answer. */
  readonly milliseconds?: number;
  readonly wrong?: string;
  readonly read?: number;
}

async function isAsExpected(store: Store, { key, values }: Expected): Promise<boolean> {
  const found = await store.bucket(largeBucket).get(key);
  if (found === null) return values.includes(null);
  const bytes = await found.bytes();
  return values.some((value) => value !== null && bytesOf(key, value).equals(bytes));
}

async function open({ directory, expected }: OpenTask): Promise<void> {
  const begun = performance.now();
  const store = await openStore(directory);
  let isRight = await isAsExpected(store, expected[0]!);
  tell({ milliseconds: performance.now() - begun });
  for (const one of expected) {
    isRight &&= await isAsExpected(store, one);
    if (!isRight) return tell({ wrong: `differs from the acknowledged write: ${JSON.stringify(one)}` });
  }
  await store.close();
  tell({ read: expected.length });
}

function tell(report: OpenReport): void {
  process.send!(report);
}

process.once("message", (task: OpenTask) => {
  open(task).then(
    () => process.disconnect(),
    (error: unknown) => tell({ wrong: String(error) }),
  );
});
