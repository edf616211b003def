// Guards the driver against a service that is not PostgreSQL, or a hostile one. The driver reads a
// whole message into memory, whatever length it announces; it loops for ever on an error without an
// end; and what it throws while it reads would end the process.
import type { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";

/** More than the longest row: the list of the parts of an object. */
const maxMessageBytes = 64 * 1024 * 1024;
/** A type of one byte and a length of four, which counts itself. */
const headerBytes = 5;
const minLength = 4;
/** ErrorResponse and NoticeResponse: fields of a byte and a text that ends with 0, and then a 0. */
const errorTypes = new Set(["E".charCodeAt(0), "N".charCodeAt(0)]);

/**
 * Destroys the stream before the driver reads a message that it cannot bear. Call it when the driver
 * listens to the stream, and before data arrives.
 */
export function guardMessages(stream: Duplex): void {
  const listeners = stream.listeners("data") as ((chunk: Buffer) => void)[];
  const check = createMessageCheck();
  stream.removeAllListeners("data");
  stream.on("data", (chunk: Buffer) => {
    if (stream.destroyed) return;
    try {
      check(chunk);
      for (const deliver of listeners) deliver(chunk);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
  if (listeners.length === 0)
    stream.destroy(new Error("This version of PostgreSQL's driver is not supported."));
}

/** Returns a function that throws at the first malformed message, in whatever chunks it arrives. */
function createMessageCheck(): (chunk: Buffer) => void {
  let header = 0;
  let type = 0;
  let length = 0;
  /** Bytes of the current message that are still to come. */
  let left = 0;
  let errorState: "field" | "text" | "ended" = "ended";

  function readError(part: Buffer): void {
    for (const byte of part) {
      if (errorState === "text" && byte === 0) errorState = "field";
      else if (errorState === "field") errorState = byte === 0 ? "ended" : "text";
    }
  }

  function endMessage(): void {
    if (errorState !== "ended") throw wrongService("an error without an end");
  }

  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const part = chunk.subarray(at, at + left);
        if (errorState !== "ended") readError(part);
        left -= part.length;
        at += part.length;
        if (left === 0) endMessage();
        continue;
      }
      const byte = chunk[at++]!;
      if (header === 0) type = byte;
      else length = length * 256 + byte;
      if (++header < headerBytes) continue;
      if (length < minLength || length > maxMessageBytes) throw wrongService(`a message of ${length} bytes`);
      left = length - minLength;
      errorState = errorTypes.has(type) ? "field" : "ended";
      [header, length] = [0, 0];
      if (left === 0) endMessage();
    }
  };
}

function wrongService(what: string): Error {
  return new Error(`The service on this port is not PostgreSQL: ${what}.`);
}
