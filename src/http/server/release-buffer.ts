// Frees the memory of a chunk at once. Chunks are outside the JavaScript heap, where the collector
// hardly sees them: with a thousand bodies in flight, 100 MB of dead chunks would remain.

const { port1: closedPort } = new MessageChannel();
closedPort.close();

/** For a chunk that is not used again. A view of a larger buffer is left alone. */
export function release(chunk: Uint8Array): void {
  const { buffer, byteLength } = chunk;
  if (!(buffer instanceof ArrayBuffer) || byteLength !== buffer.byteLength || byteLength < minBytes) return;
  // A transferred buffer is detached here, and freed since no port receives it.
  closedPort.postMessage(undefined, [buffer]);
}

/** Smaller chunks are not worth the cost. */
const minBytes = 8 * 1024;
