// Which blobs readers of this process have open: none of them is removed meanwhile. Readers on other machines are
// known by how far back they go (presence.ts).

export interface Holds {
  /** The answer lets go, once. */
  hold(blobs: readonly string[]): () => void;
  isHeld(blobs: readonly string[]): boolean;
}

export function createHolds(): Holds {
  const held = new Map<string, number>();
  return {
    hold(blobs) {
      // Blobs that are one body are always held together: the first stands for all.
      const first = blobs[0] ?? "";
      held.set(first, (held.get(first) ?? 0) + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = held.get(first)! - 1;
        if (left > 0) held.set(first, left);
        else held.delete(first);
      };
    },
    isHeld: ([first = ""]) => held.has(first),
  };
}
