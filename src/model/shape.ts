// Type checks for values that come from outside this process.

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value.length <= maxLength;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isOptional<T>(
  value: unknown,
  isValue: (value: unknown) => value is T,
): value is T | undefined {
  return value === undefined || isValue(value);
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

export function isList<T>(
  value: unknown,
  maxLength: number,
  isItem: (item: unknown) => item is T,
): value is readonly T[] {
  return Array.isArray(value) && value.length <= maxLength && value.every(isItem);
}

/** Lists and objects inside each other, and values. A request with 10,000 parts has 30,000 values. */
export const jsonLimits = { depth: 16, values: 50_000 } as const;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Checks JSON before it is parsed, because each of its bytes can become a list. */
export function isWithinJsonLimits(json: Uint8Array): boolean {
  let [depth, values, isInText] = [0, 0, false];
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === quote) isInText = !isInText;
    else if (isInText) i += byte === backslash ? 1 : 0;
    else if (byte === openList || byte === openObject) depth++;
    else if (byte === closeList || byte === closeObject) depth--;
    if (!isInText && (byte === comma || byte === openList || byte === openObject)) values++;
    if (depth > jsonLimits.depth || values > jsonLimits.values) return false;
  }
  return true;
}
