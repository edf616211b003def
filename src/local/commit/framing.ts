// Messages over a byte stream: each after its length, which is bounded.
import { deserialize, serialize } from "node:v8";

const lengthBytes = 4;

/** No message is longer: many bodies of a few KiB, or the list of 10,000 parts, are far below. */
export const mostFrameBytes = 64 * 1024 * 1024;

export function frame(message: unknown): Buffer {
  const body = serialize(message);
  const framed = Buffer.allocUnsafe(lengthBytes + body.length);
  framed.writeUInt32LE(body.length);
  framed.set(body, lengthBytes);
  return framed;
}

export interface Unframer {
  /** Throws when the other side does not send messages, or too long ones: nothing after that can be read. */
  take(chunk: Buffer): void;
  /** Bytes that wait for the rest of their message. */
  readonly waiting: number;
}

/** Takes bytes as they come, and gives every message that is whole. */
export function createUnframer(onMessage: (message: unknown) => void): Unframer {
  let pieces: Buffer[] = [];
  let size = 0;
  let wanted = lengthBytes;
  let isBody = false;
  return {
    get waiting() {
      return size;
    },
    take(chunk) {
      pieces.push(chunk);
      size += chunk.length;
      while (size >= wanted) {
        const all = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
        const part = all.subarray(0, wanted);
        pieces = [all.subarray(wanted)];
        size -= wanted;
        wanted = isBody ? lengthBytes : part.readUInt32LE();
        if (wanted > mostFrameBytes) throw new RangeError(`a message of ${wanted} bytes`);
        if (isBody) onMessage(deserialize(part));
        isBody = !isBody;
      }
    },
  };
}
