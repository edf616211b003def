// "Did you mean …?": finds the known word nearest to a misspelled word.

export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const given = word.toLowerCase();
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const allowed = Math.max(1, Math.floor(Math.max(given.length, candidate.length) / 3));
    // The distance is at least the difference in length.
    if (Math.abs(given.length - candidate.length) > allowed) continue;
    const distance = editDistance(given, candidate.toLowerCase());
    // With as many edits as letters, every word would match.
    if (distance > allowed || distance >= given.length) continue;
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  return best?.candidate ?? candidates.find((candidate) => isShortFor(given, candidate.toLowerCase()));
}

/** Whether the word abbreviates the candidate, like `compat_date` for `compatibility_date`. */
function isShortFor(word: string, candidate: string): boolean {
  if (word.length < 4 || word[0] !== candidate[0]) return false;
  let at = 0;
  for (const letter of candidate) if (letter === word[at]) at++;
  return at === word.length;
}

/** Counts the edits between two words. A swap of adjacent letters is one edit. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(replaced, last[j]! + 1, row[j - 1]! + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
