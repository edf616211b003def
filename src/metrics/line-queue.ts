// Queues request log lines and sends them in batches, one batch at a time. If the writer is slow,
// lines beyond the limit are dropped and counted: memory is limited and requests never wait.
import { clearTimeout, setTimeout } from "node:timers";

export interface LineQueue {
  push(line: string): void;
  /** Called when the writer has written the batch in flight. */
  ack(): void;
  /** Sends the queued lines immediately. */
  flush(): void;
  /** Number of lines dropped because the queue was full. */
  readonly dropped: number;
}

export interface LineQueueOptions {
  readonly send: (text: string) => void;
  /** Maximum number of queued characters. */
  readonly maxCharacters?: number;
  /** How long a line waits for further lines if no batch is in flight. */
  readonly maxDelayMilliseconds?: number;
}

export function createLineQueue(options: LineQueueOptions): LineQueue {
  const { send, maxCharacters = 1024 * 1024, maxDelayMilliseconds = 100 } = options;
  let waiting: string[] = [];
  let size = 0;
  let dropped = 0;
  let isInFlight = false;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (isInFlight || waiting.length === 0) return;
    const text = waiting.join("");
    waiting = [];
    size = 0;
    isInFlight = true;
    send(text);
  }

  return {
    push(line) {
      if (size + line.length > maxCharacters) {
        dropped++;
        return;
      }
      waiting.push(line);
      size += line.length;
      if (!isInFlight) timer ??= setTimeout(flush, maxDelayMilliseconds).unref();
    },
    ack() {
      isInFlight = false;
      flush();
    },
    flush,
    get dropped() {
      return dropped;
    },
  };
}
