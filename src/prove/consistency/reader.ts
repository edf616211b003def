// Reads every key after all writers of a round have stopped, so that a missing acknowledged write
// is seen by at least one read.
import { openStore } from "../../open.ts";
import { openLog } from "./log.ts";
import { bindingTarget } from "./target.ts";

export interface LastReads {
  readonly data: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly keys: readonly string[];
  readonly log: string;
  readonly zero: bigint;
}

export async function readAll({ data, bucket, prefix, keys, log: path, zero }: LastReads): Promise<void> {
  const now = () => Number(process.hrtime.bigint() - zero);
  const store = await openStore(data);
  const log = openLog(path);
  try {
    const target = bindingTarget(store.bucket(bucket));
    const begin = now();
    const { etags } = await target.list(prefix, prefix, 1000);
    log.page(begin, now(), Object.fromEntries(keys.map((key) => [key, etags.get(key) ?? null])));
    for (const key of keys) {
      const begin = now();
      const found = await target.get(key);
      log.read(begin, now(), key, found);
    }
  } finally {
    log.close();
    await store.close();
  }
}
