// The process that the test kills: it puts and deletes keys of a namespace and reports each
// acknowledged write.
import { openStore } from "../../../src/index.ts";
import { readTask, say } from "../../../src/prove/kill/run-until-killed.ts";

export interface KvReport {
  readonly said: "trying" | "done";
  readonly key: string;
  /** The stored value, or null for a delete. */
  readonly value: string | null;
}

const { directory } = readTask<{ directory: string }>();
const store = await openStore(directory);
const kv = store.kv("sessions");

async function lane(key: string): Promise<void> {
  for (let i = 0; ; i++) {
    const value = i % 7 === 6 ? null : `${key}-${i}`.repeat(i % 3 === 0 ? 1 : 2000);
    say({ said: "trying", key, value });
    if (value === null) await kv.delete(key);
    else await kv.put(key, value, { metadata: i, expirationTtl: 3600 });
    say({ said: "done", key, value });
  }
}

await Promise.all(Array.from({ length: 8 }, (_, i) => lane(`key-${i}`)));
