// The scrub: slowly verifies the whole store, once a week, to find damage while backups still have
// the data. One process runs it and saves its position; if that process ends, another resumes.
import { StoreError } from "../../model/errors.ts";
import { isCount, isFields, isList, isNumber, isOptional } from "../../model/shape.ts";
import type { Context } from "../context.ts";
import { createRateLimit } from "./rate-limit.ts";
import type { Damage, ScrubOptions, ScrubOutcome, ScrubProgress, ScrubReport } from "./reports.ts";
import { type WalkPosition, walkStore } from "./verify-walk.ts";

const everyMilliseconds = 7 * 86_400_000;
const savedMilliseconds = 10_000;
/** A process without a heartbeat for this long is considered dead. */
const staleMilliseconds = 60_000;
/** Maximum number of reported damages that are recorded, so that each is reported only once. */
const maxFound = 1000;

interface State {
  /** Start of this round. The next round is due a week later. */
  readonly begun: number;
  /** Last heartbeat of the process that runs the round. Undefined if no process does. */
  readonly beat?: number;
  readonly at?: WalkPosition;
  readonly isEnded: boolean;
  readonly objects: number;
  readonly bytes: number;
  readonly found: readonly Damage[];
  readonly last?: ScrubReport & { readonly found: readonly Damage[] };
}

const kind = "housekeeping";
const name = "scrub";

async function readState(
  context: Context,
): Promise<{ state: State | undefined; revision: number | undefined }> {
  const { records } = context;
  const document = await records.documents.get(kind, name);
  return { state: document && parseState(document.text), revision: document?.revision };
}

/** A state that cannot be read counts as none: the next scrub starts a new round. */
function parseState(text: string): State | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isState(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isState(value: unknown): value is State {
  if (!isFields(value)) return false;
  const { begun, beat, at, isEnded, objects, bytes, found, last } = value;
  return (
    isNumber(begun) &&
    isOptional(beat, isNumber) &&
    isOptional(at, isPosition) &&
    typeof isEnded === "boolean" &&
    [objects, bytes].every(isCount) &&
    isList(found, maxFound, isDamage) &&
    isOptional(last, isLastRound)
  );
}

function isPosition(value: unknown): value is WalkPosition {
  return isFields(value) && typeof value.bucket === "string" && isOptional(value.key, isString);
}

function isLastRound(value: unknown): value is NonNullable<State["last"]> {
  if (!isFields(value)) return false;
  const { ended, objects, bytes, damages, found } = value;
  return isNumber(ended) && [objects, bytes, damages].every(isCount) && isList(found, maxFound, isDamage);
}

function isDamage(value: unknown): value is Damage {
  if (!isFields(value)) return false;
  const { bucket, key, what } = value;
  return isOptional(bucket, isString) && isOptional(key, isString) && isString(what);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

export async function lastScrub(context: Context): Promise<ScrubReport | undefined> {
  return toReport((await readState(context)).state);
}

function toReport(state: State | undefined): ScrubReport | undefined {
  if (state?.last === undefined) return undefined;
  const { ended, objects, bytes, damages } = state.last;
  return { ended, objects, bytes, damages };
}

export async function scrubProgress(context: Context): Promise<ScrubProgress> {
  const { state } = await readState(context);
  const last = toReport(state);
  if (state === undefined || state.isEnded) return { isRunning: false, round: undefined, last };
  const { beat, objects, bytes, found } = state;
  const isRunning = beat !== undefined && Math.abs(context.now() - beat) < staleMilliseconds;
  return { isRunning, round: { objects, bytes, damages: found.length }, last };
}

/** Resumes the current round, or starts a new round if it is due. */
export async function scrub(
  context: Context,
  options: ScrubOptions,
  isStopped: () => boolean,
): Promise<ScrubOutcome> {
  const claim = await claimRound(context, options.everyMilliseconds ?? everyMilliseconds);
  if (claim === undefined) return "not due";
  const rateLimit = createRateLimit(context, options.bytesPerSecond, isStopped);
  const reported = new Set((claim.state.last?.found ?? []).concat(claim.state.found).map(damageId));
  let { state } = claim;
  let savedAt = context.now();
  try {
    for await (const { isObject, stored, damage, at } of walkStore(context, {
      depth: "records",
      from: state.at,
      throttle: rateLimit.consume,
    })) {
      state = { ...state, at, objects: state.objects + (isObject ? 1 : 0), bytes: state.bytes + stored };
      if (damage !== undefined && !state.found.some((one) => damageId(one) === damageId(damage))) {
        state = { ...state, found: [...state.found, damage].slice(0, maxFound) };
        if (!reported.has(damageId(damage))) options.onDamage(damage);
      }
      await rateLimit.consumeObject();
      if (isStopped()) break;
      if (Math.abs(context.now() - savedAt) < (options.savedMilliseconds ?? savedMilliseconds)) continue;
      savedAt = context.now();
      if (!(await claim.save({ ...state, beat: savedAt }))) return "taken over";
    }
  } catch (error) {
    // The engine is closing: the next scrub resumes at the saved position.
    if (isStopped() && error instanceof StoreError) return "stopped";
    throw error;
  }
  const { beat: _, ...left } = state;
  if (isStopped()) return (await claim.save(left)) ? "stopped" : "taken over";
  const { objects, bytes, found } = left;
  const last = { ended: context.now(), objects, bytes, damages: found.length, found };
  const { at: __, ...whole } = left;
  return (await claim.save({ ...whole, isEnded: true, last })) ? "ended" : "taken over";
}

function damageId({ bucket, key, what }: Damage): string {
  return JSON.stringify([bucket, key, what]);
}

interface ScrubClaim {
  readonly state: State;
  /** Returns false if another process has taken over the round. */
  save(state: State): Promise<boolean>;
}

/** Returns undefined if no round is due or another process is running it. */
async function claimRound(context: Context, every: number): Promise<ScrubClaim | undefined> {
  const { state, revision } = await readState(context);
  const now = context.now();
  // Clocks can jump in both directions, so a time in the future is treated as long ago.
  const isPast = (time: number, by: number) => Math.abs(now - time) >= by;
  if (state?.beat !== undefined && !isPast(state.beat, staleMilliseconds)) return undefined;
  if (state?.isEnded === true && !isPast(state.begun, every)) return undefined;
  const fresh: State = {
    ...{ begun: now, isEnded: false, objects: 0, bytes: 0, found: [] },
    ...(state?.last === undefined ? {} : { last: state.last }),
  };
  const taken = { ...(state === undefined || state.isEnded ? fresh : state), beat: now };
  let expectedRevision = revision;
  async function save(next: State): Promise<boolean> {
    const { documents } = context.records;
    if ((await documents.put(kind, name, JSON.stringify(next), expectedRevision)) === "conflict")
      return false;
    expectedRevision = (await documents.get(kind, name))?.revision;
    return true;
  }
  return (await save(taken)) ? { state: taken, save } : undefined;
}
