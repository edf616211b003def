// A bounded cache of values that are costly to open. At the limit, the least recently used is
// closed.

export interface Lru<T> {
  get(key: string): T;
  peek(key: string): T | undefined;
  drop(key: string): void;
  values(): T[];
  clear(): void;
}

export function createLru<T>(
  maxEntries: number,
  open: (key: string) => T,
  close: (value: T) => void,
): Lru<T> {
  // A Map keeps the order of insertion, so its first entry is the least recently used.
  const entries = new Map<string, T>();
  let latest: string | undefined;

  function drop(key: string): void {
    const value = entries.get(key);
    if (value === undefined) return;
    entries.delete(key);
    close(value);
  }

  return {
    get(key) {
      const found = entries.get(key);
      if (found !== undefined && key === latest) return found;
      latest = key;
      if (found !== undefined) {
        entries.delete(key);
        entries.set(key, found);
        return found;
      }
      const opened = open(key);
      entries.set(key, opened);
      if (entries.size > maxEntries) drop(entries.keys().next().value!);
      return opened;
    },
    peek: (key) => entries.get(key),
    drop,
    values: () => [...entries.values()],
    clear() {
      for (const key of [...entries.keys()]) drop(key);
    },
  };
}
