// Text that PostgreSQL can hold: everything but the character zero.

/** False for what no row can be named. */
export function isText(...texts: readonly string[]): boolean {
  return texts.every((text) => !text.includes("\0"));
}
