// Chooses the committer of this process: its own writer thread, or a process that commits for
// others.
import { URL } from "node:url";
import { Worker } from "node:worker_threads";
import type { StoreError } from "../../model/errors.ts";
import type { WriteStop } from "../disk/write-stop.ts";
import { connectToWriter } from "./commit-client.ts";
import type { Committer, Reply, WriterData } from "./messages.ts";

export interface ChosenCommitter extends Omit<Committer, "isOpen"> {
  /** Makes the writer thread of this process also commit for other processes. */
  startServer(): Promise<void>;
}

/**
 * Connects to a process that commits for others, otherwise starts a writer thread. Chooses at the
 * first job, because only writes need a thread, and again when the other process ends.
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

/** Starts the writer thread. If the thread exits before `close`, all writes are stopped. */
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
    // Always true: an exited thread has stopped all writes, so it gets no more jobs.
    isOpen: () => true,
    submit(job) {
      return new Promise((resolve, reject) => {
        // A batch sent after the thread has exited would never get a reply.
        if (exitError !== undefined) throw exitError;
        const id = nextId++;
        // A commit in flight keeps the process alive; an idle writer thread does not.
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
