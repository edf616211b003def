// Quotes a word for a shell if it contains special characters.

export function shellWord(word: string): string {
  return /^[\w@%+=:,./\u00a0-\uffff-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
