// References to the blobs that readers of this process have open. A referenced blob is not removed.
// Readers on other machines are protected by the time of their oldest read (postgres/heartbeat.ts).

export interface ReadRefs {
  /** Returns the release function. Calling it again has no effect. */
  acquire(blobs: readonly string[]): () => void;
  has(blobs: readonly string[]): boolean;
}

export function createReadRefs(): ReadRefs {
  const refCounts = new Map<string, number>();
  return {
    acquire(blobs) {
      // The blobs of a body are always referenced together, so the first blob identifies the body.
      const first = blobs[0] ?? "";
      refCounts.set(first, (refCounts.get(first) ?? 0) + 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        const remaining = refCounts.get(first)! - 1;
        if (remaining > 0) refCounts.set(first, remaining);
        else refCounts.delete(first);
      };
    },
    has: ([first = ""]) => refCounts.has(first),
  };
}
