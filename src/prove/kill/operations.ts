// Random operations of the clients in a process that is killed, on keys of one client and on keys
// that all clients share.
import type { Store } from "../../open.ts";
import { bytesOf, KiB, MiB, streamOf } from "../bodies.ts";
import { createRandom } from "../random.ts";
import { createClient, type Turn } from "./client.ts";
import type { WriterTask } from "./object-writer.ts";

/** Number of keys per client that only this client writes, and of keys that all clients write. */
const keysEach = 4;
const sharedKeys = 3;
const clients = 12;
const sizes = [0, 1, 700, 4 * KiB, 4 * KiB + 1, 20 * KiB, 64 * KiB, 64 * KiB + 1, 300 * KiB];

/** Returns one function per client; each call runs the client's next operation. */
export function createOperations(
  store: Store,
  task: Omit<WriterTask, "directory">,
  count = clients,
): (() => Promise<void>)[] {
  let writes = 0;
  return Array.from({ length: count }, (_, index) => {
    const random = createRandom(task.seed + index);
    const name = task.buckets[index % task.buckets.length]!;
    const own = Array.from({ length: keysEach }, (_, i) => `client ${index}/key ${i}`);
    const shared = Array.from({ length: sharedKeys }, (_, i) => `shared/key ${i}`);
    const client = createClient(store.bucket(name), name, () => writes++);
    let n = 0;
    return async () => {
      const value = { name: `${task.round}.${index}.${n++}`, size: random.pick(sizes) };
      if (random.below(80) === 0) value.size = MiB;
      const key = random.pick(own);
      if (random.below(500) === 0) await store.sweep();
      else if (random.below(6) === 0) await writeShared({ client, random, key: random.pick(shared), value });
      else await writeOwn({ client, random, key, value }, own);
    };
  });
}

/** Writes a key that other clients write concurrently, so any of the writes may be the last. */
async function writeShared({ client, random, key, value }: Turn): Promise<void> {
  switch (random.below(4)) {
    case 0:
      return client.remove([key]);
    case 1:
      return client.create(key, value);
    default:
      return client.put(key, value, bytesOf(key, value));
  }
}

async function writeOwn(turn: Turn, own: readonly string[]): Promise<void> {
  const { client, random, key, value } = turn;
  switch (random.below(28)) {
    case 0:
      return client.remove([key]);
    case 1:
      return client.remove(own.slice(0, random.between(2, own.length)));
    case 2:
    case 3:
      return client.putParts(turn);
    case 4:
      return client.abandonUpload(turn);
    case 5:
      return client.failStream(turn);
    case 6:
      return client.replaceKnown(turn);
    case 7:
      return client.createKnown(turn);
    default: {
      const bytes = bytesOf(key, value);
      return client.put(key, value, random.below(2) === 0 ? bytes : streamOf(bytes));
    }
  }
}
