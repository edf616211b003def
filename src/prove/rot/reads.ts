// Reads everything in a damaged store in every way. Each read must be correct or fail; a list may
// lack entries hidden by damage, and then verify must report it.
import assert from "node:assert/strict";
import type { Engine } from "../../engine/engine.ts";
import type { Documents } from "../../engine/records.ts";
import { isStoreFault, StoreError } from "../../model/errors.ts";
import type { Version } from "../../model/version.ts";
import { collect } from "../bytes.ts";
import type { Random } from "../random.ts";
import { assertComplete, historyQuestions, listHistory } from "./history.ts";
import { bucket, deleted, emptyBucket, type StoredObject, storedObjects } from "./store.ts";

/** What is read before the damage. */
export interface Answers {
  /** All answers, as text to compare. */
  readonly texts: ReadonlyMap<string, string>;
  readonly versions: readonly Version[];
}

export interface Readings {
  /** Keys whose reads failed. */
  readonly failed: ReadonlySet<string>;
  /** Number of failed reads of any kind. */
  readonly failures: number;
  /** Lists that lacked entries without an error. */
  readonly short: readonly string[];
}

export async function readAnswers(engine: Engine, documents: Documents): Promise<Answers> {
  const texts = new Map<string, string>();
  const listed = await listHistory(engine);
  assertComplete(listed);
  const versions = listed.map(({ version }) => version);
  for (const { name, ask } of questions(engine, documents, versions)) texts.set(name, asText(await ask()));
  return { texts, versions };
}

export async function readDamaged(
  { engine, documents }: { engine: Engine; documents: Documents },
  { texts: answers, versions }: Answers,
  random: Random,
): Promise<Readings> {
  const failed = new Set<string>();
  const short: string[] = [];
  let failures = 0;
  for (const { name, key, isList, ask } of questions(engine, documents, versions)) {
    const answer = await loudly(name, ask);
    if (answer === undefined) {
      failures++;
      if (key !== undefined) failed.add(key);
    } else if (asText(answer.value) !== answers.get(name)) {
      assert.ok(isList, `${name} answers ${asText(answer.value)} for ${answers.get(name)}`);
      assertPartOf(name, answer.value as readonly unknown[], answers.get(name)!);
      short.push(name);
    }
  }
  for (const one of storedObjects) {
    const range = random.below(2) === 0 ? undefined : someRange(random, one.bytes.length);
    const answer = await loudly(`get of "${one.key}"`, () => readBytes(engine, one, range));
    if (answer === undefined) {
      failures++;
      failed.add(one.key);
      continue;
    }
    const { offset, length } = range ?? { offset: 0, length: one.bytes.length };
    const isRight = answer.value.equals(one.bytes.subarray(offset, offset + length));
    assert.ok(isRight, `wrong bytes of "${one.key}", ${JSON.stringify(range)}`);
  }
  return { failed, failures, short };
}

export interface Question {
  readonly name: string;
  readonly key?: string;
  /** Whether an incomplete answer is allowed. */
  readonly isList?: boolean;
  ask(): Promise<unknown>;
}

function* questions(engine: Engine, documents: Documents, versions: readonly Version[]): Generator<Question> {
  yield* historyQuestions(engine, versions);
  for (const { key } of storedObjects)
    yield { name: `head of "${key}"`, key, ask: () => engine.head(bucket, key) };
  for (const key of [...deleted, "never there"]) {
    yield { name: `head of "${key}", which is not there,`, ask: () => engine.head(bucket, key) };
  }
  for (const [prefix, delimiter] of [
    ["", ""],
    ["", "/"],
    ["inline/90/", "/"],
    ["file/", ""],
  ] as const) {
    const ask = () => listAll(engine, prefix, delimiter);
    yield { name: `list of "${prefix}" by "${delimiter}"`, isList: true, ask };
  }
  yield { name: "buckets", isList: true, ask: () => engine.listBuckets() };
  for (const name of [bucket, emptyBucket, "no-such-bucket"]) {
    yield { name: `bucket ${name}`, ask: () => engine.bucket(name) };
  }
  yield { name: "uploads", isList: true, ask: async () => (await engine.listUploads(bucket)).uploads };
  yield { name: "parts", isList: true, ask: () => allParts(engine) };
  yield { name: "documents", isList: true, ask: () => documents.list("proof") };
  for (const name of ["first", "second", "third", "none"]) {
    yield { name: `document ${name}`, ask: () => documents.get("proof", name) };
  }
}

async function listAll(engine: Engine, prefix: string, delimiter: string): Promise<unknown[]> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.list(bucket, { prefix, delimiter, cursor, limit: 20 });
    found.push(...page.objects, ...page.prefixes);
    assert.ok(found.length <= 2 * storedObjects.length, "a list does not end");
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

async function allParts(engine: Engine): Promise<unknown[]> {
  const { uploads } = await engine.listUploads(bucket);
  const parts = await Promise.all(uploads.map((upload) => engine.listParts(bucket, upload)));
  return parts.flatMap(({ parts }) => parts);
}

async function readBytes(
  engine: Engine,
  { key, customerKey }: StoredObject,
  range: { offset: number; length: number } | undefined,
): Promise<Buffer> {
  const found = await engine.get(bucket, key, { customerKey, range });
  assert.equal(found.outcome, "found", `"${key}" is answered as ${found.outcome}`);
  return found.outcome === "found" ? collect(found.bytes.chunks()) : Buffer.alloc(0);
}

function someRange(random: Random, size: number): { offset: number; length: number } | undefined {
  if (size === 0) return undefined;
  const offset = random.below(size);
  return { offset, length: random.between(1, size - offset) };
}

/** Calls `ask`; returns undefined if it fails with an error that reports damage. */
async function loudly<T>(name: string, ask: () => Promise<T>): Promise<{ value: T } | undefined> {
  try {
    return { value: await ask() };
  } catch (error) {
    assert.ok(error instanceof StoreError, `${name} fails with ${String(error)}`);
    const isReported = isStoreFault(error) || error.reason === "ServiceUnavailable";
    assert.ok(isReported, `${name} is answered with ${error.message}`);
    return undefined;
  }
}

function assertPartOf(name: string, found: readonly unknown[], expected: string): void {
  const all = new Set((JSON.parse(expected) as unknown[]).map((entry) => JSON.stringify(entry)));
  for (const entry of found) {
    const text = JSON.stringify(JSON.parse(asText(entry)));
    assert.ok(all.has(text), `${name} returns an entry that does not exist: ${text}`);
  }
}

function asText(value: unknown): string {
  return (
    JSON.stringify(value, (_, held: unknown) => {
      if (held instanceof Map) return [...held];
      if (held === Number.POSITIVE_INFINITY) return "never";
      return held instanceof Uint8Array ? Buffer.from(held).toString("hex") : held;
    }) ?? "none"
  );
}
