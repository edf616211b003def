// What was read from a bucket of late, good for as long as nobody commits to it: a look at the head of the log tells,
// for a fifth of what the smallest query costs. Only what is asked for again is kept, and where commits come
// between most reads nothing is.
import type { ObjectWithBody } from "../../engine/records.ts";
import type { Bucket } from "../../model/bucket.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { Glance } from "./wal-change-counter.ts";

/** Answers what was found before, or reads; what is not there is always read. */
export interface Recent {
  bucket(read: () => Bucket | undefined): Bucket | undefined;
  object(key: string, read: () => ObjectRecord | undefined): ObjectRecord | undefined;
  objectWithBody(key: string, read: () => ObjectWithBody | undefined): ObjectWithBody | undefined;
  /** Lets go of everything. */
  close(): void;
}

/** How much is kept of all buckets together: small bodies are kept too, so these are some megabytes at most. */
export interface Room {
  /** Before one more is kept; when there is no more room, all of them go. */
  take(): void;
  /** Calls when all must go; gives what takes the listener back. */
  share(clear: () => void): () => void;
}

export function createRoom(most = 2048): Room {
  const sharers = new Set<() => void>();
  let taken = 0;
  return {
    take() {
      if (++taken <= most) return;
      for (const clear of sharers) clear();
      taken = 1;
    },
    share(clear) {
      sharers.add(clear);
      return () => sharers.delete(clear);
    },
  };
}

interface Kept<T> {
  /** Between which two commits it was read. */
  readonly era: number;
  readonly value: T;
}

/** Stands for what was asked for once. */
const seenOnce: Kept<never> = { era: -1, value: undefined as never };

/** With fewer answers between two commits, looking costs more than it saves: then this many reads go without. */
const worthwhileAnswers = 16;
const restingReads = 256;

export function createRecent(glance: Glance, room: Room): Recent {
  let era = 0;
  let answers = 0;
  let resting = 0;

  function look(): number {
    if (!glance.hasChanged()) return era;
    if (answers < worthwhileAnswers) resting = restingReads;
    answers = 0;
    return ++era;
  }

  function recall<T>(
    kept: Map<string, Kept<T>>,
    name: string,
    read: () => T | undefined,
    isKept: (value: T) => boolean,
  ): T | undefined {
    if (resting > 0) {
      resting--;
      return read();
    }
    const known = kept.get(name);
    if (known === undefined) {
      room.take();
      kept.set(name, seenOnce);
      return read();
    }
    // Looked before it is read: what is committed in between is seen by the next look.
    const now = look();
    if (known.era === now) {
      answers++;
      return known.value;
    }
    const value = read();
    kept.set(name, value !== undefined && isKept(value) ? { era: now, value } : seenOnce);
    return value;
  }

  const buckets = new Map<string, Kept<Bucket>>();
  const objects = new Map<string, Kept<ObjectRecord>>();
  const bodies = new Map<string, Kept<ObjectWithBody>>();
  const clear = () => {
    for (const kept of [buckets, objects, bodies]) kept.clear();
    ofThisTurn.forget();
  };
  const ofThisTurn = createTurnMemory<Bucket>();
  const leave = room.share(clear);
  return {
    bucket: (read) => ofThisTurn.recall(() => recall(buckets, "", read, always)),
    object: (key, read) => recall(objects, key, read, always),
    objectWithBody: (key, read) => recall(bodies, key, read, isSmall),
    close() {
      leave();
      clear();
    },
  };
}

const always = () => true;

/** Lists of parts may be long. */
function isSmall({ body }: ObjectWithBody): boolean {
  return body.home !== "parts";
}

/** Shorter than anything that a script could wait for without giving the turn away. */
const turnMilliseconds = 1;

/**
 * What one turn of the event loop has read is good for the rest of it: nobody can have told this process of a later
 * commit. Many writes that go on together after one commit so look at their bucket once.
 */
function createTurnMemory<T>(): { recall(read: () => T | undefined): T | undefined; forget(): void } {
  let found: T | undefined;
  let since = 0;
  const forget = () => {
    found = undefined;
  };
  return {
    recall(read) {
      if (found !== undefined && performance.now() - since < turnMilliseconds) return found;
      if (found === undefined) process.nextTick(forget);
      since = performance.now();
      found = read();
      return found;
    },
    forget,
  };
}
