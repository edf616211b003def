// Methods that combine two sets (union, intersection …) for Node versions without them.
import { defineMissing } from "./define.ts";

interface SetLike {
  readonly size: number;
  has(value: unknown): boolean;
  keys(): Iterator<unknown>;
}

function checkSetLike(other: SetLike): void {
  const isSetLike =
    typeof other === "object" &&
    other !== null &&
    !Number.isNaN(Number(other.size)) &&
    typeof other.has === "function" &&
    typeof other.keys === "function";
  if (!isSetLike) throw new TypeError("The argument must be a Set, a Map or an object like them.");
}

function* iterateKeys(other: SetLike): Generator<unknown> {
  const keys = other.keys();
  for (let step = keys.next(); step.done !== true; step = keys.next()) yield step.value;
}

const methods = {
  union(this: Set<unknown>, other: SetLike) {
    checkSetLike(other);
    return new Set([...this, ...iterateKeys(other)]);
  },
  intersection(this: Set<unknown>, other: SetLike) {
    checkSetLike(other);
    const values =
      this.size <= other.size ? [...this].filter((value) => other.has(value)) : iterateKeys(other);
    return new Set([...values].filter((value) => this.has(value)));
  },
  difference(this: Set<unknown>, other: SetLike) {
    checkSetLike(other);
    return new Set([...this].filter((value) => !other.has(value)));
  },
  symmetricDifference(this: Set<unknown>, other: SetLike) {
    checkSetLike(other);
    const result = new Set(this);
    for (const value of iterateKeys(other)) {
      if (this.has(value)) result.delete(value);
      else result.add(value);
    }
    return result;
  },
  isSubsetOf(this: Set<unknown>, other: SetLike) {
    checkSetLike(other);
    return this.size <= other.size && [...this].every((value) => other.has(value));
  },
  isSupersetOf(this: Set<unknown>, other: SetLike) {
    checkSetLike(other);
    for (const value of iterateKeys(other)) if (!this.has(value)) return false;
    return true;
  },
  isDisjointFrom(this: Set<unknown>, other: SetLike) {
    checkSetLike(other);
    return ![...this].some((value) => other.has(value));
  },
};

export function installSetMethods(): void {
  defineMissing(Set.prototype, methods);
}
