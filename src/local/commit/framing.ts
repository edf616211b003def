// Messages over a byte stream: each after its length, which is bounded.
import { deserialize, serialize } from "node:v8";

const lengthBytes = 4;

/** No message is longer: many bodies of a few KiB, or the list of 10,000 parts, are far below. */
export const maxFrameBytes = 64 * 1024 * 1024;

export function encodeFrame(message: unknown): Buffer {
  const body = serialize(message);
  const encoded = Buffer.allocUnsafe(lengthBytes + body.length);
  encoded.writeUInt32LE(body.length);
  encoded.set(body, lengthBytes);
  return encoded;
}

export interface FrameDecoder {
  /** Throws when the other side does not send messages, or too long ones: nothing after that can be read. */
  push(chunk: Buffer): void;
  /** Bytes that wait for the rest of their message. */
  readonly bufferedBytes: number;
}

/** Takes bytes as they come, and gives every message that is whole. */
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
