// Checks text for PostgreSQL, which cannot store the character NUL.

/** False when a text contains NUL: no row can have that name. */
export function isText(...texts: readonly string[]): boolean {
  return texts.every((text) => !text.includes("\0"));
}
