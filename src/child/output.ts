// Reads a child's console output line by line. Long lines are cut. When the rate limit is reached,
// reading pauses, so that the child waits.
import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers";

export interface OutputLimits {
  readonly lineBytes: number;
  readonly bytesPerSecond: number;
  /** What may be read at once is the limit of this time. Default: a second. */
  readonly burstMilliseconds?: number;
}

export const defaultOutputLimits: OutputLimits = { lineBytes: 16 * 1024, bytesPerSecond: 4 * 1024 * 1024 };
const newline = 10;
/** Added to the bytes of each line, since short lines also cost processing time. */
const lineCost = 512;

export function forEachLine(
  stream: Readable,
  onLine: (text: string) => void,
  { lineBytes, bytesPerSecond, burstMilliseconds = 1000 }: OutputLimits = defaultOutputLimits,
): void {
  const maxDebt = (bytesPerSecond * burstMilliseconds) / 1000;
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  let cutBytes = 0;
  let debt = 0;
  let isPaying = false;

  function buffer(bytes: Buffer): void {
    const fitting = bytes.subarray(0, lineBytes - bufferedBytes);
    // Copy the bytes, so that a short line does not keep a large chunk in memory.
    if (fitting.length > 0) buffered.push(Buffer.from(fitting));
    bufferedBytes += fitting.length;
    cutBytes += bytes.length - fitting.length;
  }

  function finish(): void {
    const text = Buffer.concat(buffered).toString("utf8");
    debt += lineCost;
    const cut = cutBytes === 0 ? "" : `… (${cutBytes} more bytes of this line are not shown)`;
    buffered = [];
    bufferedBytes = 0;
    cutBytes = 0;
    onLine(text + cut);
  }

  function pay(): void {
    isPaying = true;
    setTimeout(() => {
      debt = Math.max(0, debt - maxDebt);
      if (debt <= maxDebt) stream.resume();
      if (debt > 0) pay();
      else isPaying = false;
    }, burstMilliseconds).unref();
  }

  stream.on("data", (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(newline, at);
      buffer(chunk.subarray(at, end === -1 ? chunk.length : end));
      if (end !== -1) finish();
      at = end === -1 ? chunk.length : end + 1;
    }
    debt += chunk.length;
    if (debt > maxDebt) stream.pause();
    if (!isPaying) pay();
  });
  stream.on("end", () => {
    if (bufferedBytes > 0) finish();
  });
}
