// Who commits for this process: a thread of its own, or another process that has opened its door.
import { Worker } from "node:worker_threads";
import type { StoreError } from "../../model/errors.ts";
import type { WriteStop } from "../disk/write-stop.ts";
import { connectToWriter } from "./commit-client.ts";
import type { Committer, Reply, WriterData } from "./messages.ts";

export interface ChosenCommitter extends Omit<Committer, "isOpen"> {
  /** From now on our own thread commits for other processes, too. */
  startServer(): Promise<void>;
}

/**
 * Another process that commits for this one, or else a thread of our own: chosen with the first thing that is asked,
 * so that who only reads never waits for one, and chosen anew when the other process has ended.
 */
export function chooseCommitter(data: WriterData, writeStop: WriteStop): ChosenCommitter {
  let own: Committer | undefined;
  let chosen: Promise<Committer> | undefined;
  let current: Committer | undefined;

  async function choose(): Promise<Committer> {
    current = own ?? (await connectToWriter(data.layout)) ?? ownThread();
    return current;
  }
  function ownThread(): Committer {
    own ??= startThread(data, writeStop);
    return own;
  }
  return {
    async submit(job) {
      if (current?.isOpen() === true) return current.submit(job);
      if (current !== undefined) chosen = undefined;
      current = undefined;
      chosen ??= choose();
      return (await chosen).submit(job);
    },
    async startServer() {
      await ownThread().submit({ kind: "start server" });
    },
    async close() {
      await (await chosen)?.close();
      await own?.close();
    },
  };
}

/** Starts the thread; whatever ends it before it was told to brings the fence down. */
function startThread(data: WriterData, writeStop: WriteStop): Committer {
  const thread = new Worker(new URL("./writer-thread.js", import.meta.url), { workerData: data });
  const pending = new Map<number, { resolve(result: unknown): void; reject(error: unknown): void }>();
  let nextId = 1;
  let closing = false;
  let exitError: StoreError | undefined;
  const exited = new Promise<void>((resolve) => thread.once("exit", () => resolve()));

  thread.unref();
  thread.on("message", ({ id, result }: Reply) => {
    const request = pending.get(id);
    pending.delete(id);
    if (pending.size === 0 && !closing) thread.unref();
    request?.resolve(result);
  });
  function onExit(cause: unknown): void {
    if (closing) return;
    exitError = writeStop.trip(cause);
    for (const request of pending.values()) request.reject(exitError);
    pending.clear();
  }
  thread.on("error", onExit);
  thread.on("exit", (code) => onExit(new Error(`The writer thread ended with code ${code}.`)));

  return {
    // One that has ended has brought the fence down, and is asked by nobody.
    isOpen: () => true,
    submit(job) {
      return new Promise((resolve, reject) => {
        // What had been gathered when the thread ended is sent behind its end: nobody would answer.
        if (exitError !== undefined) throw exitError;
        const id = nextId++;
        // A commit under way keeps the process alive, an idle writer does not.
        thread.ref();
        pending.set(id, { resolve, reject });
        const bytes = job.kind === "commit" ? job.groups.map(({ changes }) => changes.buffer) : [];
        thread.postMessage({ ...job, id }, bytes);
      });
    },
    async close() {
      if (closing) return;
      // SQLite must be closed in its own thread before the process may exit.
      closing = true;
      thread.ref();
      thread.postMessage({ kind: "close", id: 0 });
      await exited;
    },
  };
}
