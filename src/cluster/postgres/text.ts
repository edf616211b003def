// Checks text for PostgreSQL, which cannot store the NUL character.

/** Whether no text contains NUL. A name with NUL cannot be in any row. */
export function isText(...texts: readonly string[]): boolean {
  return texts.every((text) => !text.includes("\0"));
}
