// Reads a child's console output line by line. Long lines are cut. When the rate limit is reached,
// reading pauses until the second is over.
import type { Readable } from "node:stream";

export interface OutputLimits {
  readonly lineBytes: number;
  readonly bytesPerSecond: number;
}

export const defaultOutputLimits: OutputLimits = { lineBytes: 16 * 1024, bytesPerSecond: 4 * 1024 * 1024 };
const newline = 10;
/** Added to the bytes of each line, since short lines also cost processing time. */
const lineCost = 512;

export function forEachLine(
  stream: Readable,
  onLine: (text: string) => void,
  { lineBytes, bytesPerSecond }: OutputLimits = defaultOutputLimits,
): void {
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  let cutBytes = 0;
  let inSecond = 0;
  let isCounting = false;

  function buffer(bytes: Buffer): void {
    const fitting = bytes.subarray(0, lineBytes - bufferedBytes);
    // Copy the bytes, so that a short line does not keep a large chunk in memory.
    if (fitting.length > 0) buffered.push(Buffer.from(fitting));
    bufferedBytes += fitting.length;
    cutBytes += bytes.length - fitting.length;
  }

  function finish(): void {
    const text = Buffer.concat(buffered).toString("utf8");
    inSecond += lineCost;
    const cut = cutBytes === 0 ? "" : `… (${cutBytes} more bytes of this line are not shown)`;
    buffered = [];
    bufferedBytes = 0;
    cutBytes = 0;
    onLine(text + cut);
  }

  stream.on("data", (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(newline, at);
      buffer(chunk.subarray(at, end === -1 ? chunk.length : end));
      if (end !== -1) finish();
      at = end === -1 ? chunk.length : end + 1;
    }
    inSecond += chunk.length;
    if (inSecond > bytesPerSecond) stream.pause();
    if (isCounting) return;
    isCounting = true;
    setTimeout(() => {
      isCounting = false;
      inSecond = 0;
      stream.resume();
    }, 1000).unref();
  });
  stream.on("end", () => {
    if (bufferedBytes > 0) finish();
  });
}
