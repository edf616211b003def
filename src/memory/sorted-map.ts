// A map in key order: a sorted array of keys and a hash map. It is deliberately simple: tests
// compare other implementations with it.
import { compareKeys } from "../model/key.ts";

export class SortedMap<V> {
  readonly #keys: string[] = [];
  readonly #values = new Map<string, V>();

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    if (!this.#values.has(key)) this.#keys.splice(this.#lowerBound(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys.splice(this.#lowerBound(key), 1);
  }

  /** Yields the entries from the first key at or after `from`, in order, except skipped keys. */
  *from(from: string, skip: (key: string) => boolean = () => false): Iterable<[string, V]> {
    for (let i = this.#lowerBound(from); i < this.#keys.length; i++) {
      const key = this.#keys[i]!;
      if (!skip(key)) yield [key, this.#values.get(key)!];
    }
  }

  #lowerBound(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#keys[middle]!, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
