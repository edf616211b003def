// A pool of hashing threads, started on demand. All chunks of a body are hashed by one thread.
import { availableParallelism } from "node:os";
import { URL } from "node:url";
import { Worker } from "node:worker_threads";
import type { ChecksumAlgorithm } from "../../model/checksums/checksum.ts";
import { StoreError } from "../../model/errors.ts";

export interface HashThreads {
  start(algorithms: readonly ChecksumAlgorithm[]): RemoteHash;
  close(): Promise<void>;
}

export interface RemoteHash {
  /** Resolves when the thread no longer needs the bytes. Shared memory is not copied. */
  update(bytes: Uint8Array): Promise<void>;
  finish(): Promise<readonly Uint8Array[]>;
  abandon(): void;
}

export type ToHashThread =
  | { readonly kind: "start"; readonly body: number; readonly algorithms: readonly ChecksumAlgorithm[] }
  | { readonly kind: "update"; readonly body: number; readonly bytes: Uint8Array }
  | { readonly kind: "finish"; readonly body: number }
  | { readonly kind: "abandon"; readonly body: number };

/** Replies arrive in the order of requests: one per update, and the digests for each finish. */
export interface FromHashThread {
  readonly body: number;
  readonly values: readonly Uint8Array[] | undefined;
}

interface Thread {
  bodies: number;
  start(algorithms: readonly ChecksumAlgorithm[]): RemoteHash;
  close(): Promise<void>;
}

export function createHashThreads(): HashThreads {
  const threads: Thread[] = [];
  const maxThreads = Math.max(1, availableParallelism() - 1);
  return {
    start(algorithms) {
      const idle = threads.find(({ bodies }) => bodies === 0);
      if (idle === undefined && threads.length < maxThreads) threads.push(startThread());
      const chosen =
        idle ?? threads.reduce((idlest, thread) => (thread.bodies < idlest.bodies ? thread : idlest));
      return chosen.start(algorithms);
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

interface Answer {
  resolve(values: readonly Uint8Array[] | undefined): void;
  reject(error: unknown): void;
}

function startThread(): Thread {
  const worker = new Worker(new URL("./hash-thread.js", import.meta.url));
  const pending = new Map<number, Answer[]>();
  let failure: StoreError | undefined;
  let nextBody = 1;
  worker.unref();
  worker.on("message", ({ body, values }: FromHashThread) => {
    pending.get(body)?.shift()?.resolve(values);
  });
  const fail = (cause: unknown) => {
    failure ??= new StoreError("InternalError", { cause });
    for (const answers of pending.values()) for (const { reject } of answers) reject(failure);
    pending.clear();
  };
  worker.on("error", fail);
  worker.on("exit", (code) => fail(new Error(`A hash thread exited with code ${code}.`)));

  const thread: Thread = {
    bodies: 0,
    start(algorithms) {
      const body = nextBody++;
      const answers: Answer[] = [];
      pending.set(body, answers);
      thread.bodies++;
      // A body in flight keeps the process alive; an idle thread does not.
      worker.ref();
      const send = (message: ToHashThread) => worker.postMessage(message);
      const request = (message: ToHashThread) =>
        new Promise<readonly Uint8Array[] | undefined>((resolve, reject) => {
          if (failure !== undefined) return reject(failure);
          answers.push({ resolve, reject });
          send(message);
        });
      const end = () => {
        if (!pending.delete(body)) return;
        thread.bodies--;
        if (thread.bodies === 0) worker.unref();
      };
      send({ kind: "start", body, algorithms });
      return {
        async update(bytes) {
          await request({ kind: "update", body, bytes });
        },
        async finish() {
          try {
            return (await request({ kind: "finish", body })) ?? [];
          } finally {
            end();
          }
        },
        abandon() {
          send({ kind: "abandon", body });
          end();
        },
      };
    },
    async close() {
      await worker.terminate();
    },
  };
  return thread;
}
