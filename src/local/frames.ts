// Messages over a byte stream: each behind its length.
import { deserialize, serialize } from "node:v8";

const lengthBytes = 4;

export function frame(message: unknown): Buffer {
  const body = serialize(message);
  const framed = Buffer.allocUnsafe(lengthBytes + body.length);
  framed.writeUInt32LE(body.length);
  framed.set(body, lengthBytes);
  return framed;
}

/** Takes bytes as they come, and gives every message that is whole. */
export function createUnframer<T>(onMessage: (message: T) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let size = 0;
  let wanted = lengthBytes;
  let isBody = false;
  return (chunk) => {
    pieces.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      const all = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      const part = all.subarray(0, wanted);
      pieces = [all.subarray(wanted)];
      size -= wanted;
      wanted = isBody ? lengthBytes : part.readUInt32LE();
      if (isBody) onMessage(deserialize(part) as T);
      isBody = !isBody;
    }
  };
}
