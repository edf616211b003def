// A word as it must be typed into a shell: in quotes when the shell would take it apart.

export function shellWord(word: string): string {
  return /^[\w@%+=:,./\u00a0-\uffff-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
