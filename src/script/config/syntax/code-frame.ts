// Formats a fault in a file for users: its position, the line with the token marked, and what to
// do. Configurations and scripts use this format.

export interface SourceFault {
  /** The path as the user would type it in the current directory. */
  readonly path: string;
  /** Line number from 1, as in editors. */
  readonly line: number;
  /** Column from 1 in UTF-16 code units, as in editors. */
  readonly column: number;
  /** The whole line. */
  readonly source: string;
  /** Length of the token in UTF-16 code units. */
  readonly length: number;
  readonly message: string;
  readonly hint?: string | undefined;
}

export function faultText(fault: SourceFault): string {
  const { path, line, column, source, length: tokenLength, message, hint } = fault;
  const end = Math.min(column - 1 + Math.max(1, tokenLength), Math.max(source.length, column));
  const { shown, start, length } = cropLine(source, column - 1, end - column + 1);
  const number = String(line);
  const gutter = " ".repeat(number.length);
  const marks =
    toBlanks(shown.slice(0, start)) + "^".repeat(measureWidth(shown.slice(start, start + length)) || 1);
  return [
    `${path}:${line}:${column}: ${message}`,
    `  ${number} | ${shown}`.trimEnd(),
    `  ${gutter} | ${marks}`,
    ...(hint === undefined ? [] : hint.split("\n").map((words) => `  ${words}`)),
  ].join("\n");
}

const maxLineLength = 120;

/** Shortens a long line to the part around the token. */
function cropLine(line: string, start: number, length: number) {
  if (line.length <= maxLineLength) return { shown: line, start, length };
  const from = Math.max(0, Math.min(start - maxLineLength / 4, line.length - maxLineLength));
  const part = line.slice(from, from + maxLineLength);
  const lead = from > 0 ? "…" : "";
  const trail = from + maxLineLength < line.length ? "…" : "";
  return {
    shown: lead + part + trail,
    start: start - from + lead.length,
    length: Math.min(length, part.length - (start - from)),
  };
}

/** Spaces as wide as the text. Tabs are kept, so that the mark lines up at any tab width. */
function toBlanks(text: string): string {
  if (isPlain(text)) return " ".repeat(text.length);
  return Array.from(text, (letter) => (letter === "\t" ? "\t" : " ".repeat(measureWidth(letter)))).join("");
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const narrow = /\p{Mark}|\u200b|\u200d|\ufeff/u;

function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Width of the text in terminal columns. */
function measureWidth(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const letter of text) width += narrow.test(letter) ? 0 : wide.test(letter) ? 2 : 1;
  return width;
}
