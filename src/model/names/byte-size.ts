// Sizes that people write, such as 500, 10GB or 1.5TiB.

const shape = /^(\d+(?:\.\d{1,3})?) ?([kmgtp]i?)?b?$/i;
const powers = ["k", "m", "g", "t", "p"];

/** Returns bytes; undefined if the text is not a size. GB is a thousand MB, GiB is 1024 MiB. */
export function parseByteSize(text: string): number | undefined {
  const [, number, unit = ""] = shape.exec(text.trim()) ?? [];
  const power = powers.indexOf(unit.charAt(0).toLowerCase()) + 1;
  const bytes = Math.round(Number(number) * (unit.length === 2 ? 1024 : 1000) ** power);
  return number !== undefined && Number.isSafeInteger(bytes) ? bytes : undefined;
}
