// Exchanges messages with a child process over a pipe: JSON, preceded by its length. A child may
// run untrusted code, so the size and rate of messages and the unsent bytes are limited.
import { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";

export interface Channel {
  /** Returns false if the message was dropped, because the pipe is closed or its buffer is full. */
  send(message: object): boolean;
  /** Closes the pipe after all messages sent so far are written. */
  close(): void;
}

export interface ChannelOptions {
  /** Called with each message, parsed but of unchecked shape. If it throws, `onFault` is called. */
  readonly onMessage: (value: unknown) => void;
  /** Called with the reason at the first invalid message; no further messages are read. */
  readonly onFault: (why: string) => void;
  readonly onClose: () => void;
  /** Limit on received messages; when it is reached, reading pauses until the second is over. */
  readonly messagesPerSecond?: number;
}

/** The largest valid message is a batch of request log lines. */
const maxMessageBytes = 8 * 1024 * 1024;
const maxUnsentBytes = 16 * 1024 * 1024;
const lengthBytes = 4;

export function openChannel(pipe: Duplex, options: ChannelOptions): Channel {
  const { onMessage, onFault, onClose, messagesPerSecond = Number.POSITIVE_INFINITY } = options;
  let hasFault = false;
  let inSecond = 0;
  let pause: NodeJS.Timeout | undefined;

  function fault(why: string): void {
    if (hasFault) return;
    hasFault = true;
    pipe.pause();
    onFault(why);
  }

  const take = createMessageReader((text) => {
    if (hasFault) return;
    inSecond++;
    try {
      onMessage(JSON.parse(text));
    } catch (error) {
      fault(error instanceof Error ? error.message : String(error));
    }
  }, fault);

  pipe.on("data", (bytes: Buffer) => {
    if (hasFault) return;
    take(bytes);
    if (inSecond < messagesPerSecond || hasFault) return;
    pipe.pause();
    pause ??= setTimeout(() => {
      pause = undefined;
      inSecond = 0;
      if (!hasFault) pipe.resume();
    }, 1000);
  });
  const counting = Number.isFinite(messagesPerSecond)
    ? setInterval(() => {
        if (pause === undefined) inSecond = 0;
      }, 1000).unref()
    : undefined;
  // The pipe breaks when a process is killed: `onClose` reports this.
  pipe.on("error", () => pipe.destroy());
  pipe.once("close", () => {
    clearInterval(counting);
    clearTimeout(pause);
    onClose();
  });

  return {
    send(message) {
      if (!pipe.writable || pipe.writableLength > maxUnsentBytes) return false;
      const body = Buffer.from(JSON.stringify(message));
      const head = Buffer.allocUnsafe(lengthBytes);
      head.writeUInt32LE(body.length);
      pipe.write(Buffer.concat([head, body]));
      return true;
    },
    close: () => void pipe.end(),
  };
}

/** Calls `onText` with every complete message. */
function createMessageReader(
  onText: (text: string) => void,
  fault: (why: string) => void,
): (bytes: Buffer) => void {
  let chunks: Buffer[] = [];
  let size = 0;
  return (bytes) => {
    chunks.push(bytes);
    size += bytes.length;
    while (size >= lengthBytes) {
      if (chunks[0]!.length < lengthBytes) chunks = [Buffer.concat(chunks)];
      const length = chunks[0]!.readUInt32LE();
      if (length > maxMessageBytes) return fault(`a message of ${length} bytes is larger than allowed`);
      const end = lengthBytes + length;
      if (size < end) return;
      const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      chunks = [all.subarray(end)];
      size -= end;
      onText(all.toString("utf8", lengthBytes, end));
    }
  };
}
