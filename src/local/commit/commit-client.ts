// A process that lets another commit for it: it sends its jobs through the writer's door.
import { connect, type Socket } from "node:net";
import { StoreError } from "../../model/errors.ts";
import type { Layout } from "../disk/layout.ts";
import { knownDoor } from "./commit-server.ts";
import { createUnframer, frame, mostFrameBytes } from "./framing.ts";
import { isReply, isResultOf } from "./message-shapes.ts";
import type { Committer, Job } from "./messages.ts";

/** Undefined when nobody commits for others here. */
export async function visitWriter(layout: Layout): Promise<Committer | undefined> {
  const path = knownDoor(layout);
  const socket = path === undefined ? undefined : await connected(path);
  return socket === undefined ? undefined : guest(socket);
}

function connected(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

function guest(socket: Socket): Committer {
  const asked = new Map<number, { job: Job; resolve(result: unknown): void; reject(error: unknown): void }>();
  let nextId = 1;
  let isOpen = true;
  let isClosing = false;

  /** A commit under way keeps the process alive, an idle connection does not. */
  function rest(): void {
    if (isClosing) socket.destroy();
    else socket.unref();
  }

  socket.unref();
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    isOpen = false;
    for (const { reject } of asked.values()) reject(unknownOutcome());
    asked.clear();
  });
  const unframer = createUnframer((message) => {
    if (!isReply(message)) throw new TypeError("a message that is not a reply");
    const question = asked.get(message.id);
    if (question === undefined || !isResultOf(question.job, message.result))
      throw new TypeError("a reply that does not fit what was asked");
    asked.delete(message.id);
    if (asked.size === 0) rest();
    question.resolve(message.result);
  });
  socket.on("data", (chunk) => {
    if (socket.destroyed) return;
    try {
      unframer.take(chunk);
    } catch (error) {
      // What was asked is rejected as unknown when the connection is closed.
      socket.destroy();
      const what = error instanceof Error ? error.message : String(error);
      process.emitWarning(`The process that commits for this one sent ${what}.`, "StoreWarning");
    }
  });
  return {
    isOpen: () => isOpen,
    ask(job) {
      return new Promise((resolve, reject) => {
        const id = nextId++;
        const framed = frame({ ...job, id });
        if (framed.length > mostFrameBytes) throw tooLarge();
        socket.ref();
        asked.set(id, { job, resolve, reject });
        socket.write(framed);
      });
    },
    async close() {
      isClosing = true;
      if (asked.size === 0) rest();
    },
  };
}

function tooLarge(): StoreError {
  return new StoreError("ServiceUnavailable", {
    detail: "Too much is to be written at the same time. Please try again.",
    notDone: true,
  });
}

function unknownOutcome(): StoreError {
  return new StoreError("ServiceUnavailable", {
    detail:
      "The process that commits for this one ended: it is not known whether this was written. Please try again.",
  });
}
