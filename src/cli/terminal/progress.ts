// A progress line on stderr, redrawn in place. Nothing is printed when stderr is not a terminal.
import { formatBytes, type Output } from "../framework/output.ts";

export interface Progress {
  advance(bytes: number): void;
  /** Removes the line. */
  end(): void;
}

export interface ProgressOptions {
  /** The label, or a function that is called at every redraw and returns the current label. */
  readonly label: string | (() => string);
  /** Total number of bytes, if known. */
  readonly total?: number | undefined;
  /** "label": show no bytes, for work that moves none. */
  readonly shows?: "label" | undefined;
}

const redrawMilliseconds = 100;

export function startProgress(output: Output, { label, total, shows }: ProgressOptions): Progress {
  const { stderr } = output;
  if (stderr.isTTY !== true) return { advance() {}, end() {} };
  const started = Date.now();
  let done = 0;
  const draw = () => {
    const text = typeof label === "string" ? label : label();
    const columns = stderr.columns || 80;
    const state = { label: text, done, total, seconds: (Date.now() - started) / 1000 };
    const line = shows === "label" ? text.slice(0, columns - 1) : progressLine(state, columns);
    stderr.write(`\r${line}\u001b[K`);
  };
  const timer = setInterval(draw, redrawMilliseconds).unref();
  draw();
  return {
    advance(bytes) {
      done += bytes;
    },
    end() {
      clearInterval(timer);
      clearProgressLine(output);
    },
  };
}

/** Clears the progress line before other output. The next redraw is below that output. */
export function clearProgressLine({ stderr }: Output): void {
  if (stderr.isTTY === true) stderr.write("\r\u001b[K");
}

export interface ProgressState {
  readonly label: string;
  readonly done: number;
  readonly total: number | undefined;
  readonly seconds: number;
}

/** Fits the line to the width: drops the bar first, then the label, then all but the percentage. */
export function progressLine({ label, done, total, seconds }: ProgressState, columns: number): string {
  // Some terminals start a new line when the last column is written.
  const maxWidth = columns - 1;
  const speed = seconds > 0 ? done / seconds : 0;
  const rate = `${formatBytes(speed)}/s`;
  if (total === undefined)
    return pickFittingLine([`${label}  ${formatBytes(done)}  ${rate}`, formatBytes(done)], maxWidth);
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  const left = speed > 0 ? formatDuration((total - done) / speed) : "--";
  const facts = `${percent}  ${formatBytes(done)} of ${formatBytes(total)}  ${rate}  ${left} left`;
  const width = Math.min(30, maxWidth - label.length - facts.length - 6);
  return pickFittingLine(
    [
      ...(width >= 8 ? [`${label}  [${bar(share, width)}] ${facts}`] : []),
      `${label}  ${facts}`,
      facts,
      percent,
    ],
    maxWidth,
  );
}

function bar(share: number, width: number): string {
  const filled = Math.round(share * width);
  return "=".repeat(filled) + " ".repeat(width - filled);
}

function pickFittingLine(lines: readonly string[], maxWidth: number): string {
  return lines.find((line) => line.length <= maxWidth) ?? "";
}

function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
}
