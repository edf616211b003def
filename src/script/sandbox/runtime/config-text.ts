// Writes values in the text form of Cap'n Proto, in which the runtime's configuration is written.
// Names and values come from configurations and secrets, so every text is escaped.

/** A value that is already in the text form. */
export interface ConfigExpression {
  readonly expression: string;
}

export type ConfigValue =
  | string
  | number
  | boolean
  | ConfigExpression
  | readonly ConfigValue[]
  | { readonly [name: string]: ConfigValue | undefined };

/** The content of a file next to the configuration. */
export function embed(file: string): ConfigExpression {
  return { expression: `embed ${formatText(file)}` };
}

/** Members with the value undefined are left out. */
export function formatValue(value: ConfigValue): string {
  if (typeof value === "string") return formatText(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[${value.map((each: ConfigValue) => formatValue(each)).join(", ")}]`;
  if (isExpression(value)) return value.expression;
  const members = Object.entries(value as { readonly [name: string]: ConfigValue | undefined })
    .filter((entry): entry is [string, ConfigValue] => entry[1] !== undefined)
    .map(([name, member]) => `${name} = ${formatValue(member)}`);
  return `(${members.join(", ")})`;
}

function isExpression(value: object): value is ConfigExpression {
  return typeof (value as Partial<ConfigExpression>).expression === "string";
}

/** Writes every byte that is not a plain character as `\xHH`, in UTF-8. */
export function formatText(text: string): string {
  let escaped = "";
  for (const byte of Buffer.from(text, "utf8")) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    escaped += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return `"${escaped}"`;
}

/** Writes JSON in ASCII only: NUL and single surrogates survive, which text cannot hold. */
export function asciiJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
