// A process that lets another commit for it: it sends its jobs through the writer's door.
import { connect, type Socket } from "node:net";
import { StoreError } from "../model/errors.ts";
import { createUnframer, frame } from "./frames.ts";
import type { Layout } from "./layout.ts";
import { knownDoor } from "./writer-door.ts";
import type { Committer, Reply } from "./writer-messages.ts";

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
  const asked = new Map<number, { resolve(result: unknown): void; reject(error: unknown): void }>();
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
  socket.on(
    "data",
    createUnframer<Reply>(({ id, result }) => {
      const question = asked.get(id);
      asked.delete(id);
      if (asked.size === 0) rest();
      question?.resolve(result);
    }),
  );
  return {
    isOpen: () => isOpen,
    ask(job) {
      return new Promise((resolve, reject) => {
        const id = nextId++;
        socket.ref();
        asked.set(id, { resolve, reject });
        socket.write(frame({ ...job, id }));
      });
    },
    async close() {
      isClosing = true;
      if (asked.size === 0) rest();
    },
  };
}

function unknownOutcome(): StoreError {
  return new StoreError("ServiceUnavailable", {
    detail:
      "The process that commits for this one ended: it is not known whether this was written. Please try again.",
  });
}
