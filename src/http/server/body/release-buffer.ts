// Frees the memory of a chunk immediately. Chunks are outside the JavaScript heap, so the garbage
// collector runs too rarely: with a thousand bodies in flight, 100 MB of unused chunks remain.
import { MessageChannel } from "node:worker_threads";

const { port1: closedPort } = new MessageChannel();
closedPort.close();

/** Frees a chunk that is not used again. Does nothing for a view of a larger buffer. */
export function release(chunk: Uint8Array): void {
  const { buffer, byteLength } = chunk;
  if (!(buffer instanceof ArrayBuffer) || byteLength !== buffer.byteLength || byteLength < minBytes) return;
  // A transfer detaches the buffer, and frees it because the port is closed.
  closedPort.postMessage(undefined, [buffer]);
}

/** For smaller chunks, freeing costs more than it saves. */
const minBytes = 8 * 1024;
