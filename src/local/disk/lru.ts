// Keeps the most recently used of something that is costly to open, and closes the others.

export interface LeastRecent<T> {
  get(key: string): T;
  peek(key: string): T | undefined;
  drop(key: string): void;
  values(): T[];
  clear(): void;
}

export function createLeastRecent<T>(
  most: number,
  open: (key: string) => T,
  close: (value: T) => void,
): LeastRecent<T> {
  // A Map remembers the order of insertion: the first entry is the one not used for longest.
  const held = new Map<string, T>();
  let latest: string | undefined;

  function drop(key: string): void {
    const value = held.get(key);
    if (value === undefined) return;
    held.delete(key);
    close(value);
  }

  return {
    get(key) {
      const found = held.get(key);
      if (found !== undefined && key === latest) return found;
      latest = key;
      if (found !== undefined) {
        held.delete(key);
        held.set(key, found);
        return found;
      }
      const opened = open(key);
      held.set(key, opened);
      if (held.size > most) drop(held.keys().next().value!);
      return opened;
    },
    peek: (key) => held.get(key),
    drop,
    values: () => [...held.values()],
    clear() {
      for (const key of [...held.keys()]) drop(key);
    },
  };
}
