// Sends the jobs of this process over a socket to the process that commits for it.
import { connect, type Socket } from "node:net";
import { errorMessage, StoreError } from "../../model/errors.ts";
import type { Layout } from "../disk/layout.ts";
import { readSocketPath } from "./commit-server.ts";
import { createFrameDecoder, encodeFrame, maxFrameBytes } from "./framing.ts";
import { isReply, isValidResult } from "./message-shapes.ts";
import type { Committer, Job } from "./messages.ts";

/** Returns undefined if no process commits for others in this directory. */
export async function connectToWriter(layout: Layout): Promise<Committer | undefined> {
  const path = readSocketPath(layout);
  const socket = path === undefined ? undefined : await connectSocket(path);
  return socket === undefined ? undefined : createCommitClient(socket);
}

function connectSocket(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

function createCommitClient(socket: Socket): Committer {
  const pending = new Map<
    number,
    { job: Job; resolve(result: unknown): void; reject(error: unknown): void }
  >();
  let nextId = 1;
  let isOpen = true;
  let isClosing = false;

  /** Lets the process exit while the connection is idle. A commit in flight keeps it alive. */
  function goIdle(): void {
    if (isClosing) socket.destroy();
    else socket.unref();
  }

  socket.unref();
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    isOpen = false;
    for (const { reject } of pending.values()) reject(unknownOutcomeError());
    pending.clear();
  });
  const decoder = createFrameDecoder((message) => {
    if (!isReply(message)) throw new TypeError("a message that is not a reply");
    const request = pending.get(message.id);
    if (request === undefined || !isValidResult(request.job, message.result))
      throw new TypeError("a reply that does not match its request");
    pending.delete(message.id);
    if (pending.size === 0) goIdle();
    request.resolve(message.result);
  });
  socket.on("data", (chunk) => {
    if (socket.destroyed) return;
    try {
      decoder.push(chunk);
    } catch (error) {
      // The close handler rejects all pending requests with an unknown outcome.
      socket.destroy();
      const what = errorMessage(error);
      process.emitWarning(`The process that commits for this one sent ${what}.`, "StoreWarning");
    }
  });
  return {
    isOpen: () => isOpen,
    submit(job) {
      return new Promise((resolve, reject) => {
        const id = nextId++;
        const framed = encodeFrame({ ...job, id });
        if (framed.length > maxFrameBytes) throw tooLargeError();
        socket.ref();
        pending.set(id, { job, resolve, reject });
        socket.write(framed);
      });
    },
    async close() {
      isClosing = true;
      if (pending.size === 0) goIdle();
    },
  };
}

function tooLargeError(): StoreError {
  return new StoreError("ServiceUnavailable", {
    detail: "Too much data is being written at the same time. Please try again.",
    notDone: true,
  });
}

function unknownOutcomeError(): StoreError {
  return new StoreError("ServiceUnavailable", {
    detail:
      "The process that commits for this one ended, so the outcome of this write is unknown. Please try again.",
  });
}
