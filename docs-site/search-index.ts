// Builds the index of the search: for each word the sections that contain it. The page loads it when
// the reader first uses the search.

export interface SearchSection {
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** Words of two or more letters and digits. The page splits queries in the same way. */
export function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []);
}

/** Words in more sections than this share say nothing, such as "the". */
const maxShare = 0.4;
const maxWordLength = 40;

/** Returns a script that defines the index: unlike a request, it also works from a folder. */
export function searchScript(sections: readonly SearchSection[]): string {
  const found = new Map<string, number[]>();
  for (const [number, { heading, text }] of sections.entries()) {
    for (const word of wordsOf(`${heading} ${text}`)) {
      if (word.length > maxWordLength) continue;
      found.set(word, [...(found.get(word) ?? []), number]);
    }
  }
  const words = [...found]
    .filter(([, numbers]) => numbers.length <= sections.length * maxShare)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const index = {
    sections: sections.map(({ url, page, heading }) => [url, page, heading]),
    words: Object.fromEntries(words),
  };
  return `globalThis.searchIndex = ${JSON.stringify(index)};\n`;
}
