// Caches decoded lists of parts, because decoding a list of 10,000 parts takes longer than reading
// a range. A list never changes as long as a version references it, so entries do not expire.

/** `T` is a list of parts, or holds one. */
export interface PartListCache<T> {
  get(name: string): T | undefined;
  /** `encoded` is the length of the stored text. At the limit, the least recently used lists go. */
  set(name: string, list: T, encoded: number): void;
}

/** Memory of all cached lists together: about five lists of 10,000 parts. */
const maxBytes = 16 * 1024 * 1024;
/** Memory of a decoded list, as a multiple of its text. */
const decodedFactor = 3;

export function createPartListCache<T>(limit = maxBytes): PartListCache<T> {
  // A Map keeps the order of insertion, so its first entry is the least recently used.
  const entries = new Map<string, { readonly list: T; readonly bytes: number }>();
  let used = 0;

  function remove(name: string): void {
    used -= entries.get(name)?.bytes ?? 0;
    entries.delete(name);
  }

  return {
    get(name) {
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      entries.delete(name);
      entries.set(name, entry);
      return entry.list;
    },
    set(name, list, encoded) {
      remove(name);
      const bytes = encoded * decodedFactor;
      if (bytes > limit) return;
      entries.set(name, { list, bytes });
      used += bytes;
      for (const [oldest] of entries) {
        if (used <= limit) return;
        remove(oldest);
      }
    },
  };
}
