// A thread that hashes bodies for the serving thread.
import { parentPort } from "node:worker_threads";
import { type RunningHash, startHash } from "../../model/checksums/hashes.ts";
import type { FromHashThread, ToHashThread } from "./hash-pool.ts";

const port = parentPort!;
const bodies = new Map<number, readonly RunningHash[]>();

function answer(body: number, values?: readonly Uint8Array[]): void {
  port.postMessage({ body, values } satisfies FromHashThread);
}

port.on("message", (message: ToHashThread) => {
  const { body } = message;
  const hashes = bodies.get(body) ?? [];
  switch (message.kind) {
    case "start":
      bodies.set(body, message.algorithms.map(startHash));
      return;
    case "update":
      for (const hash of hashes) hash.update(message.bytes);
      return answer(body);
    case "finish":
      bodies.delete(body);
      // Copy each digest: its buffer may be shared, and posting a message copies the whole buffer.
      return answer(
        body,
        hashes.map((hash) => new Uint8Array(hash.digest())),
      );
    case "abandon":
      bodies.delete(body);
  }
});
