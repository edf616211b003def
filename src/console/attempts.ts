// How often one may be wrong about a token. Counted by the open part of the token that was tried, so that whoever
// guesses cannot lock out those who hold one; what names no token at all is counted together.

export interface Attempts {
  /** Seconds until the next try is looked at; 0 when it may come now. */
  waitFor(id: string | undefined): number;
  failed(id: string | undefined): void;
}

const windowMilliseconds = 60_000;
const mostFailures = 10;
/** So that trying many ids does not fill the memory. */
const mostIds = 1000;

export function createAttempts(now: () => number): Attempts {
  const failures = new Map<string, { count: number; since: number }>();
  const current = (id: string | undefined) => {
    const found = failures.get(id ?? "");
    return found !== undefined && now() - found.since < windowMilliseconds ? found : undefined;
  };
  return {
    waitFor(id) {
      const found = current(id);
      if (found === undefined || found.count < mostFailures) return 0;
      return Math.ceil((found.since + windowMilliseconds - now()) / 1000);
    },
    failed(id) {
      const found = current(id);
      if (found !== undefined) {
        found.count++;
        return;
      }
      if (failures.size >= mostIds) failures.delete(failures.keys().next().value!);
      failures.set(id ?? "", { count: 1, since: now() });
    },
  };
}
