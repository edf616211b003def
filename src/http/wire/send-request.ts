// Sends a request over a Unix socket and reads the response. A small response is returned as a whole,
// as soon as it has arrived; a large or slow one as a stream with backpressure.
import { Buffer } from "node:buffer";
import { setTimeout } from "node:timers";
import { type ConnectionPool, connectionPool, type PooledConnection } from "./connection-pool.ts";
import type { ResponseHead } from "./parse-head.ts";
import { createResponseReader } from "./response-reader.ts";
import type { Framing } from "./response-text.ts";

export interface OutgoingRequest {
  readonly method: string;
  /** The request line and the headers with the empty line, one character per byte. */
  readonly head: string;
  /** Called only with an established connection: without one, the body is not read. */
  readonly body: (() => Uint8Array | AsyncIterable<Uint8Array>) | undefined;
  /** How the end of a stream is marked. */
  readonly framing: Framing;
  /** Calls `listener` once if the response is not needed any more. */
  onDisconnect(listener: () => void): void;
}

export interface IncomingResponse {
  readonly head: ResponseHead;
  readonly body: Uint8Array | IncomingBody;
}

export interface IncomingBody {
  readonly length: undefined;
  chunks(): AsyncIterable<Uint8Array>;
  cancel(): Promise<void>;
}

/** Up to this size, a body is returned as a whole. */
const maxWholeBytes = 16 * 1024;
/** With more bytes that were not taken, the connection is not read. */
const maxQueuedBytes = 64 * 1024;

/** Rejects if the connection fails or the response is not valid. */
export function sendRequest(path: string, request: OutgoingRequest): Promise<IncomingResponse> {
  const pool = connectionPool(path);
  const acquired = pool.acquire();
  return acquired instanceof Promise
    ? acquired.then((connection) => exchange(request, connection, pool))
    : exchange(request, acquired, pool);
}

function exchange(
  request: OutgoingRequest,
  connection: PooledConnection,
  pool: ConnectionPool,
): Promise<IncomingResponse> {
  return new Promise((resolve, reject) => {
    const { socket } = connection;
    let queue: Buffer[] = [];
    let queuedBytes = 0;
    let head: ResponseHead | undefined;
    let isAnswered = false;
    let isSent = false;
    let isComplete = false;
    let failure: Error | undefined;
    let wake = () => {};

    function takeQueued(): Buffer {
      const taken = queue.length === 1 ? queue[0]! : Buffer.concat(queue);
      queue = [];
      queuedBytes = 0;
      return taken;
    }

    async function* chunks(): AsyncIterable<Uint8Array> {
      try {
        for (;;) {
          if (queue.length > 0) {
            const taken = takeQueued();
            if (connection.isPaused) {
              connection.isPaused = false;
              socket.resume();
            }
            yield taken;
          } else if (isComplete) return;
          else if (failure !== undefined) throw failure;
          else {
            await new Promise<void>((next) => {
              wake = next;
            });
          }
        }
      } finally {
        abort();
      }
    }

    function abort(): void {
      if (isComplete || failure !== undefined) return;
      fail(new Error("The response is not read to its end."));
    }

    function answerWithStream(): void {
      if (isAnswered) return;
      isAnswered = true;
      resolve({ head: head!, body: { length: undefined, chunks, cancel: async () => abort() } });
    }

    function fail(error: Error): void {
      failure ??= error;
      connection.onBytes = undefined;
      connection.onError = undefined;
      delayed.delete(answerWithStream);
      socket.destroy();
      if (!isAnswered) reject(failure);
      wake();
    }

    function finish(isReusable: boolean): void {
      delayed.delete(answerWithStream);
      if (isReusable && isSent && !connection.isClosing) pool.release(connection);
      else {
        connection.onBytes = undefined;
        connection.onError = undefined;
        socket.destroy();
      }
      if (!isAnswered) {
        isAnswered = true;
        resolve({ head: head!, body: takeQueued() });
      } else wake();
    }

    const reader = createResponseReader(request.method, {
      onHead(received, length) {
        head = received;
        if (length === undefined || length > maxWholeBytes) answerWithStream();
      },
      onBytes(bytes) {
        queue.push(Buffer.from(bytes));
        queuedBytes += bytes.length;
      },
      onEnd() {
        isComplete = true;
      },
    });

    connection.onError = fail;
    connection.onBytes = (bytes) => {
      if (bytes === undefined) {
        if (reader.endOfConnection()) finish(false);
        else fail(new Error("The connection ended before the response."));
        return "read on";
      }
      let used: number;
      try {
        used = reader.read(bytes);
      } catch (error) {
        fail(error as Error);
        return "read on";
      }
      if (isComplete) {
        finish(used === bytes.length && !/\bclose\b/i.test(head!.byName.get("connection") ?? ""));
        return "read on";
      }
      if (isAnswered) wake();
      else if (head !== undefined) answerLater(answerWithStream);
      return queuedBytes > maxQueuedBytes ? "pause" : "read on";
    };

    request.onDisconnect(() => {
      if (!isComplete) fail(new Error("The client disconnected."));
    });
    if (failure !== undefined) return;
    const { body } = request;
    if (body === undefined) {
      isSent = true;
      sendWhole(connection, request.head, undefined);
    } else if (socket.connecting) socket.once("connect", () => sendBody(body));
    else sendBody(body);

    function sendBody(open: NonNullable<typeof body>): void {
      if (failure !== undefined) return;
      const opened = open();
      if (opened instanceof Uint8Array) {
        isSent = true;
        sendWhole(connection, request.head, opened);
        return;
      }
      const isDone = () => isComplete || failure !== undefined || connection.isClosing;
      sendStream(connection, opened, { ...request, isDone }).then(() => {
        isSent = true;
      }, fail);
    }
  });
}

/** Functions that wait for the rest of a small response. */
const delayed = new Set<() => void>();
const delayMilliseconds = 5;
let isTimerSet = false;

/** Calls the function soon, so that a body which arrives slowly is passed on as it arrives. */
function answerLater(answer: () => void): void {
  delayed.add(answer);
  if (isTimerSet) return;
  isTimerSet = true;
  setTimeout(() => {
    isTimerSet = false;
    const waiting = [...delayed];
    delayed.clear();
    for (const each of waiting) each();
  }, delayMilliseconds);
}

function sendWhole({ socket }: PooledConnection, head: string, body: Uint8Array | undefined): void {
  if (body === undefined || body.length === 0) socket.write(head, "latin1");
  else if (body.length <= maxWholeBytes) {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    socket.write(head + bytes.toString("latin1"), "latin1");
  } else {
    socket.cork();
    socket.write(head, "latin1");
    socket.write(body);
    socket.uncork();
  }
}

/** Waits for each write, so that a slow receiver slows down the sender. */
async function sendStream(
  { socket }: PooledConnection,
  body: AsyncIterable<Uint8Array>,
  { head, framing, isDone }: Pick<OutgoingRequest, "head" | "framing"> & { readonly isDone: () => boolean },
): Promise<void> {
  let wake = () => {};
  const onClose = () => wake();
  const written = (write: (done: () => void) => void) =>
    new Promise<void>((resolve) => {
      wake = resolve;
      if (socket.destroyed) resolve();
      else write(() => resolve());
    });
  socket.on("close", onClose);
  try {
    socket.write(head, "latin1");
    for await (const chunk of body) {
      if (isDone()) return;
      if (chunk.length === 0) continue;
      if (framing === "chunked") socket.write(`${chunk.length.toString(16)}\r\n`, "latin1");
      await written((done) => socket.write(chunk, done));
      if (framing === "chunked" && !isDone()) socket.write("\r\n", "latin1");
    }
    if (framing === "chunked" && !isDone()) socket.write("0\r\n\r\n", "latin1");
  } finally {
    socket.off("close", onClose);
  }
}
