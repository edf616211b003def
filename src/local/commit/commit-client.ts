// Sends the jobs of this process over a socket to the process that commits for it.
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import process from "node:process";
import { errorMessage, StoreError } from "../../model/errors.ts";
import type { Layout } from "../disk/layout.ts";
import { readSocketPath } from "./commit-server.ts";
import { createFrameDecoder, encodeFrame, maxFrameBytes } from "./framing.ts";
import { isReply, isValidResult } from "./message-shapes.ts";
import type { Committer, Job } from "./messages.ts";

/** Returns undefined if no process commits for others in this directory. */
export async function connectToWriter(layout: Layout): Promise<Committer | undefined> {
  const path = readSocketPath(layout);
  return path === undefined ? undefined : createCommitClient(path);
}

/** As much as Node would allocate, without this buffer, for each reply. */
const readBytes = 64 * 1024;

function createCommitClient(path: string): Promise<Committer | undefined> {
  return new Promise((resolve) => {
    let receive: (bytes: Buffer) => void = () => {};
    const buffer = Buffer.allocUnsafeSlow(readBytes);
    const callback = (count: number) => {
      receive(Buffer.from(buffer.subarray(0, count)));
      return true;
    };
    const socket = connect({ path, onread: { buffer, callback } }, () => {
      const client = createClient(socket);
      receive = client.receive;
      resolve(client.committer);
    });
    socket.once("error", () => resolve(undefined));
  });
}

interface CommitClient {
  readonly committer: Committer;
  /** Takes bytes of replies. */
  receive(bytes: Buffer): void;
}

function createClient(socket: Socket): CommitClient {
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
  function receive(bytes: Buffer): void {
    if (socket.destroyed) return;
    try {
      decoder.push(bytes);
    } catch (error) {
      // The close handler rejects all pending requests with an unknown outcome.
      socket.destroy();
      const what = errorMessage(error);
      process.emitWarning(`The process that commits for this one sent ${what}.`, "StoreWarning");
    }
  }
  const committer: Committer = {
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
  return { committer, receive };
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
