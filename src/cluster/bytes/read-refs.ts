// Which blobs readers of this process have open: none of them is removed meanwhile. Readers on other machines are
// known by how far back they go (presence.ts).

export interface ReadRefs {
  /** The answer lets go, once. */
  acquire(blobs: readonly string[]): () => void;
  has(blobs: readonly string[]): boolean;
}

export function createReadRefs(): ReadRefs {
  const refCounts = new Map<string, number>();
  return {
    acquire(blobs) {
      // Blobs that are one body are always held together: the first stands for all.
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
