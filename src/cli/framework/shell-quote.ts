// Quotes a word for a shell where needed.

export function shellWord(word: string): string {
  return /^[\w@%+=:,./\u00a0-\uffff-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
