// Gives memory back at once. Chunks of bodies lie outside of the heap of JavaScript, where its collector hardly sees
// them: of a thousand bodies on their way it leaves a hundred megabytes of dead chunks before it looks.

const { port1: closedPort } = new MessageChannel();
closedPort.close();

/** For a chunk that nobody will look at again; a window on something larger is left alone. */
export function release(chunk: Uint8Array): void {
  const { buffer, byteLength } = chunk;
  if (!(buffer instanceof ArrayBuffer) || byteLength !== buffer.byteLength || byteLength < minBytes) return;
  // What is sent away is no longer ours, and what nobody receives is freed.
  closedPort.postMessage(undefined, [buffer]);
}

/** Below, it costs more than it gives. */
const minBytes = 8 * 1024;
