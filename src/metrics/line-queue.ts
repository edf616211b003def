// Lines on their way to whoever writes them. They go in batches, the next when the one before was taken: if the reader
// is slow the queue fills up, and what finds no room is dropped and counted. Memory stays bounded, requests never wait.

export interface LineQueue {
  push(line: string): void;
  /** The batch that was sent has been taken. */
  ack(): void;
  /** Sends what is there at once. */
  flush(): void;
  /** Lines that found no room. */
  readonly dropped: number;
}

export interface LineQueueOptions {
  readonly send: (text: string) => void;
  /** How many characters may wait. */
  readonly maxCharacters?: number;
  /** How long a line may wait for others, when nothing is under way. */
  readonly maxDelayMilliseconds?: number;
}

export function createLineQueue({
  send,
  maxCharacters = 1024 * 1024,
  maxDelayMilliseconds = 100,
}: LineQueueOptions): LineQueue {
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
