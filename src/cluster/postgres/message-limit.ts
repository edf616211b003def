// Limits the messages of a database. The driver reads a whole message into memory, whatever length it
// announces, and an allocation that fails there would end the process. A wrong service on the port,
// whose bytes are not messages, mostly announces gigabytes.
import type { Buffer } from "node:buffer";
import type { Socket } from "node:net";

/** More than the longest row: the list of the parts of an object. */
const maxMessageBytes = 64 * 1024 * 1024;
/** A type of one byte and a length of four, which counts itself. */
const headerBytes = 5;
const minLength = 4;

/**
 * Destroys the socket when a longer message begins. Call it before the driver reads. Not for TLS,
 * where only the driver sees the messages, and the server has a certificate.
 */
export function limitMessages(socket: Socket): void {
  /** Bytes of the current message that are still to come. */
  let left = 0;
  let header: number[] = [];
  socket.on("data", (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const skipped = Math.min(left, chunk.length - at);
        left -= skipped;
        at += skipped;
        continue;
      }
      header.push(chunk[at++]!);
      if (header.length < headerBytes) continue;
      const length = header.slice(1).reduce((sum, byte) => sum * 256 + byte, 0);
      header = [];
      if (length < minLength || length > maxMessageBytes) {
        socket.destroy(
          new Error(`The service on this port is not PostgreSQL: a message of ${length} bytes.`),
        );
        return;
      }
      left = length - minLength;
    }
  });
}
