// One client of the recorded histories: performs operations on contended keys and logs when each
// began and ended and which state it saw.
import type { Random } from "../random.ts";
import type { Action, Outcome } from "./checker.ts";
import type { Log } from "./log.ts";
import { type Condition, NoAnswer, type Target } from "./target.ts";
import { etagNamed, type Shape } from "./values.ts";

export interface Client {
  readonly target: Target;
  readonly log: Log;
  readonly random: Random;
  /** Returns the time in nanoseconds, on a clock shared by all processes. */
  readonly now: () => number;
  /** Returns a value name that is unique among all clients. */
  readonly newName: (shape: Shape) => string;
  readonly prefix: string;
  /** The sorted keys of the round. */
  readonly keys: readonly string[];
  /** The last etag this client saw per key, for its conditional puts. */
  readonly seen: Map<string, string>;
}

/** Number of keys in use at the same time; the window moves through the keys of the round. */
export const wanted = 6;

/** Performs one random operation on the window of keys that starts at `first`. */
export async function doOne(client: Client, first: number): Promise<void> {
  const { random, keys } = client;
  const key = keys[Math.min(first + random.below(wanted), keys.length - 1)]!;
  const dice = random.below(100);
  if (dice < 28) return read(client, key, "get");
  if (dice < 40) return read(client, key, "head");
  if (dice < 44) return list(client, random.below(20) === 0 ? 0 : first, wanted);
  if (dice < 52) return remove(client, [key]);
  if (dice < 54) return remove(client, [...new Set([key, keys[first]!])]);
  if (dice < 66) return put(client, key, { etagDoesNotMatch: "*" });
  const seen = client.seen.get(key);
  if (dice < 82 && seen !== undefined) return put(client, key, { etagMatches: seen });
  return put(client, key);
}

async function read({ target, log, now, seen }: Client, key: string, how: "get" | "head"): Promise<void> {
  const begin = now();
  const found = await target[how](key).catch(unanswered);
  if (found === undefined) return;
  log.read(begin, now(), key, found);
  if (found !== null) seen.set(key, found);
}

/** Lists a page and logs its keys: from `first` to the last listed key, at most `limit` keys. */
async function list({ target, log, now, keys, prefix }: Client, first: number, limit: number): Promise<void> {
  const begin = now();
  const page = await target.list(prefix, first === 0 ? prefix : keys[first - 1]!, limit).catch(unanswered);
  if (page === undefined) return;
  const end = now();
  const last = page.truncated ? keys.indexOf([...page.etags.keys()].at(-1)!) + 1 : keys.length;
  const asked = keys.slice(first, Math.min(last, first + limit));
  log.page(begin, end, Object.fromEntries(asked.map((key) => [key, page.etags.get(key) ?? null])));
}

async function remove(client: Client, keys: readonly string[]): Promise<void> {
  await noting(client, keys, { kind: "write", value: null }, async () => {
    await client.target.delete(keys);
    return true;
  });
}

async function put(client: Client, key: string, condition?: Condition): Promise<void> {
  const dice = client.random.below(50);
  const isInParts = dice === 0 && condition === undefined && client.target.takesSmallParts;
  const name = client.newName(isInParts ? "parts" : dice < 5 ? "file" : "small");
  const value = etagNamed(name);
  const action = actionOf(value, condition);
  const isStored = await noting(client, [key], action, () => client.target.put(key, name, condition));
  if (isStored) client.seen.set(key, value);
}

function actionOf(value: string, condition: Condition | undefined): Action {
  if (condition === undefined) return { kind: "write", value };
  if ("etagMatches" in condition) {
    return { kind: "replace", seen: condition.etagMatches, value, outcome: "unknown" };
  }
  return { kind: "create", value, outcome: "unknown" };
}

async function noting(
  { log, now }: Client,
  keys: readonly string[],
  action: Action,
  write: () => Promise<boolean>,
): Promise<boolean> {
  const id = log.begin(now(), keys, action);
  const isStored = await write().catch(unanswered);
  const outcome: Outcome = isStored === undefined ? "unknown" : isStored ? "stored" : "refused";
  log.end(id, now(), outcome);
  return isStored === true;
}

/** Returns undefined for a missing answer; any other error is a failure and is thrown. */
function unanswered(error: unknown): undefined {
  if (!(error instanceof NoAnswer)) throw error;
}
