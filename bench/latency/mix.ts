// The work of the latency section: which operation is next, on which key, of which size.

export const kinds = ["GET", "PUT", "LIST", "DELETE"] as const;
export type Kind = (typeof kinds)[number];

/** Signed paths by operation. GET reads keys that DELETE never deletes. */
export type Paths = Readonly<Record<Kind, readonly string[]>>;

export const keyCount = 512;
export const keptKey = (index: number) => `kept-${index}`;
export const changedKey = (index: number) => `changed-${index}`;

const KiB = 1024;

/** Of 100 keys: 60 of 1 KiB, 30 of 16 KiB, 9 of 128 KiB and one of 1 MiB. */
export function sizeOf(index: number): number {
  const at = (index * 37) % 100;
  if (at < 60) return KiB;
  return at < 90 ? 16 * KiB : at < 99 ? 128 * KiB : 1024 * KiB;
}

export interface Choice {
  readonly kind: Kind;
  readonly index: number;
}

/** "mixed": 70 % GET, 20 % PUT, 5 % LIST and 5 % DELETE of all sizes. Otherwise one kind, of 1 KiB. */
export const works = ["mixed", "GET 1 KiB", "PUT 1 KiB"] as const;
export type WorkName = (typeof works)[number];

/** Returns the same sequence in every run. */
export function createMix(work: WorkName): () => Choice {
  let state = 12_345;
  const below = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  if (work === "mixed") {
    return () => {
      const at = below(100);
      const kind = at < 70 ? "GET" : at < 90 ? "PUT" : at < 95 ? "LIST" : "DELETE";
      return { kind, index: below(keyCount) };
    };
  }
  const kind = work === "GET 1 KiB" ? "GET" : "PUT";
  const small = Array.from({ length: keyCount }, (_, index) => index).filter(
    (index) => sizeOf(index) === KiB,
  );
  return () => ({ kind, index: small[below(small.length)]! });
}
