// Checks text for PostgreSQL, which cannot store the NUL character.

/** Whether no text contains NUL. If one does, no row can have that name. */
export function isText(...texts: readonly string[]): boolean {
  return texts.every((text) => !text.includes("\0"));
}
