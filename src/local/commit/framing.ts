// Frames messages on a byte stream: a length, which is limited, then the serialized message.
import { Buffer } from "node:buffer";
import { deserialize, serialize } from "node:v8";

const lengthBytes = 4;

/** Maximum length of a message, far more than a batch of inline bodies or 10,000 parts needs. */
export const maxFrameBytes = 64 * 1024 * 1024;

export function encodeFrame(message: unknown): Buffer {
  const body = serialize(message);
  const encoded = Buffer.allocUnsafe(lengthBytes + body.length);
  encoded.writeUInt32LE(body.length);
  encoded.set(body, lengthBytes);
  return encoded;
}

export interface FrameDecoder {
  /** Throws if a message is invalid or too long: the rest of the stream is then unreadable. */
  push(chunk: Buffer): void;
  /** Number of bytes buffered for an incomplete message. */
  readonly bufferedBytes: number;
}

/** Calls `onMessage` with every complete message. */
export function createFrameDecoder(onMessage: (message: unknown) => void): FrameDecoder {
  let chunks: Buffer[] = [];
  let size = 0;
  let expectedBytes = lengthBytes;
  let isBody = false;
  return {
    get bufferedBytes() {
      return size;
    },
    push(chunk) {
      chunks.push(chunk);
      size += chunk.length;
      while (size >= expectedBytes) {
        const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
        const part = all.subarray(0, expectedBytes);
        chunks = [all.subarray(expectedBytes)];
        size -= expectedBytes;
        expectedBytes = isBody ? lengthBytes : part.readUInt32LE();
        if (expectedBytes > maxFrameBytes) throw new RangeError(`a message of ${expectedBytes} bytes`);
        if (isBody) onMessage(deserialize(part));
        isBody = !isBody;
      }
    },
  };
}
