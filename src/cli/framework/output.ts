// Output of commands: formatted on a terminal, tab-separated when piped, JSON with --json.
// Results go to stdout, notes and progress to stderr.
import type { Writable } from "node:stream";

export interface OutputStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
}

export interface Column {
  readonly name: string;
  readonly align?: "right";
  /** Minimum width, so that the columns of a table printed page by page stay aligned. */
  readonly width?: number;
}

type Rows = readonly (readonly string[])[];

export interface Output {
  readonly isJson: boolean;
  /** Whether stdout is a terminal. */
  readonly isTerminal: boolean;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Style of text on stdout. */
  readonly style: Style;
  /** Style of text on stderr. */
  readonly noteStyle: Style;
  line(text: string): Promise<void>;
  /** Writes raw bytes; resolves when the stream has accepted them. */
  write(bytes: Uint8Array | string): Promise<void>;
  json(value: unknown): Promise<void>;
  /** Prints a table: aligned and with a header on a terminal, tab-separated when piped. */
  table(columns: readonly Column[], rows: Rows): Promise<void>;
  /** Prints further rows of a table, without a header. */
  moreRows(columns: readonly Column[], rows: Rows): Promise<void>;
  /** Prints one line for each name and value. */
  fields(fields: readonly (readonly [name: string, value: string])[]): Promise<void>;
  /** Prints a line to stderr. */
  note(text: string): void;
  /** Rewrites `store …` commands in a text to the form the user has to type. */
  typed(text: string): string;
  /** Highlights a name inside a sentence. */
  name(text: string): string;
  /** Formats a number of bytes: "1.5 KiB" on a terminal, a plain number when piped. */
  bytes(count: number): string;
  /** Formats a number of bytes in a sentence: "1.5 KiB" on a terminal, "1536 bytes" when piped. */
  size(count: number): string;
  /** Formats a time: local time on a terminal, ISO 8601 when piped. */
  time(milliseconds: number): string;
}

export interface OutputOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  /** Default: no rewriting. */
  readonly typed?: (text: string) => string;
}

export function createOutput(options: OutputOptions): Output {
  const { stdout, stderr, environment, json, typed = (text) => text } = options;
  const isTerminal = stdout.isTTY === true;
  const style = styleFor(stdout, environment);
  const write = (bytes: Uint8Array | string) => writeTo(stdout, bytes);
  const line = (text: string) => write(`${text}\n`);
  return {
    isJson: json,
    isTerminal,
    stdout,
    stderr,
    style,
    noteStyle: styleFor(stderr, environment),
    line,
    write,
    json: (value) => line(JSON.stringify(value, undefined, isTerminal ? 2 : undefined)),
    async table(columns, rows) {
      const head = isTerminal && rows.length > 0 ? [style.dim(headText(columns, rows))] : [];
      if (rows.length > 0) await line([...head, ...rowTexts(columns, rows, isTerminal)].join("\n"));
    },
    async moreRows(columns, rows) {
      if (rows.length > 0) await line(rowTexts(columns, rows, isTerminal).join("\n"));
    },
    async fields(fields) {
      const width = Math.max(...fields.map(([name]) => name.length));
      const lines = fields.map(([name, value]) =>
        isTerminal
          ? `${style.dim(name.padEnd(width))}  ${escapeControls(value)}`
          : `${name}\t${escapeControls(value)}`,
      );
      await line(lines.join("\n"));
    },
    note: (text) => {
      stderr.write(`${typed(text)}\n`);
    },
    typed,
    name: (text) => style.bold(escapeControls(text)),
    bytes: (count) => (isTerminal ? formatBytes(count) : String(count)),
    size: (count) => (isTerminal ? formatBytes(count) : formatCount(count, "byte")),
    time: (milliseconds) =>
      isTerminal ? localTime(new Date(milliseconds)) : new Date(milliseconds).toISOString(),
  };
}

function writeTo(stream: Writable, bytes: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function rowTexts(columns: readonly Column[], rows: Rows, isTerminal: boolean): string[] {
  const cells = rows.map((row) => row.map(escapeControls));
  if (!isTerminal) return cells.map((row) => row.join("\t"));
  const widths = columnWidths(columns, cells);
  return cells.map((row) => alignRow(columns, widths, row));
}

function headText(columns: readonly Column[], rows: Rows): string {
  const widths = columnWidths(
    columns,
    rows.map((row) => row.map(escapeControls)),
  );
  const names = columns.map(({ name }) => name);
  return alignRow(columns, widths, names);
}

function columnWidths(columns: readonly Column[], cells: Rows): number[] {
  return columns.map(({ name, width = 0 }, i) =>
    cells.reduce((widest, row) => Math.max(widest, row[i]!.length), Math.max(width, name.length)),
  );
}

function alignRow(columns: readonly Column[], widths: readonly number[], row: readonly string[]): string {
  const cells = columns.map(({ align }, i) =>
    align === "right" ? row[i]!.padStart(widths[i]!) : row[i]!.padEnd(widths[i]!),
  );
  return cells.join("  ").trimEnd();
}

/** Escapes control characters, so that a key cannot break lines or send terminal commands. */
export function escapeControls(text: string): string {
  return text.replaceAll(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => {
      const shortEscape = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character];
      const code = character.charCodeAt(0);
      return shortEscape ?? (code < 256 ? `\\x${hexDigits(code, 2)}` : `\\u${hexDigits(code, 4)}`);
    },
  );
}

/** Colors and other styles of text, which many logging libraries print. */
const styles = /\u001b\[[0-9;:]*m/g;

/**
 * Removes styles, and escapes control characters except newlines and tabs: for the output and the
 * errors of scripts.
 */
export function escapeScriptText(text: string): string {
  return text
    .replaceAll(styles, "")
    .split(/([\n\t])/)
    .map((part) => (part === "\n" || part === "\t" ? part : escapeControls(part)))
    .join("");
}

function hexDigits(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}

export function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

export function formatBytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  let value = count;
  // With one decimal, values from 1023.95 would be printed as 1024.0: use the next unit.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

function localTime(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

/** https://no-color.org: any non-empty NO_COLOR turns colours off. */
function styleFor(stream: OutputStream, environment: OutputOptions["environment"]): Style {
  const isColoured = stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== "dumb";
  const coloured = (on: number, off: number) => (text: string) =>
    isColoured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: coloured(1, 22),
    dim: coloured(2, 22),
    red: coloured(31, 39),
    yellow: coloured(33, 39),
    green: coloured(32, 39),
  };
}
