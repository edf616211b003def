// Operations of one client in a process that is killed, which reports each write before and after.
import type { StoreBucket, StoreValue } from "../../types.ts";
import { bytesOf, KiB, MiB, streamOf, type Value } from "../bodies.ts";
import type { Random } from "../random.ts";
import type { UploadReport, WriteReport } from "./object-writer.ts";
import { say } from "./run-until-killed.ts";

export interface Turn {
  readonly client: Client;
  readonly random: Random;
  readonly key: string;
  readonly value: Value;
}

export interface Client {
  put(key: string, value: Value, body: StoreValue): Promise<void>;
  remove(keys: readonly string[]): Promise<void>;
  /** Writes only if the key does not exist; other clients may write the same key concurrently. */
  create(key: string, value: Value): Promise<void>;
  /** Makes conditional writes to a key of this client alone, so that their result is known. */
  createKnown(turn: Turn): Promise<void>;
  replaceKnown(turn: Turn): Promise<void>;
  putParts(turn: Turn): Promise<void>;
  /** Starts an upload that is never completed and sometimes not aborted either. */
  abandonUpload(turn: Turn): Promise<void>;
  /** Puts a stream that fails, which must leave the previous object unchanged. */
  failStream(turn: Turn): Promise<void>;
}

export function createClient(bucket: StoreBucket, name: string, nextId: () => number): Client {
  /** Reports a write before and after it runs. `write` returns null when its condition fails. */
  async function reporting(keys: readonly string[], value: Value | null, write: () => Promise<unknown>) {
    const report = { id: nextId(), bucket: name, keys, value };
    say({ said: "trying", ...report } satisfies WriteReport);
    try {
      const isStored = (await write()) !== null;
      say({ said: isStored ? "done" : "refused", ...report } satisfies WriteReport);
      return isStored;
    } catch (error) {
      say({ said: "failed", ...report } satisfies WriteReport);
      throw error;
    }
  }

  return {
    async put(key, value, body) {
      await reporting([key], value, () => bucket.put(key, body));
    },
    async remove(keys) {
      await reporting(keys, null, () => bucket.delete([...keys]));
    },
    async create(key, value) {
      const onlyIf = { etagDoesNotMatch: "*" };
      await reporting([key], value, () => bucket.put(key, bytesOf(key, value), { onlyIf }));
    },
    async createKnown({ key, value }) {
      const isFree = (await bucket.head(key)) === null;
      const onlyIf = { etagDoesNotMatch: "*" };
      const stored = await reporting([key], value, () => bucket.put(key, bytesOf(key, value), { onlyIf }));
      expect(stored === isFree, `creating "${key}" was ${stored ? "stored" : "refused"}`);
    },
    async replaceKnown({ key, value, random }) {
      const found = await bucket.head(key);
      const isRight = found !== null && random.below(3) > 0;
      const onlyIf = { etagMatches: isRight ? found.etag : "0".repeat(32) };
      const stored = await reporting([key], value, () => bucket.put(key, bytesOf(key, value), { onlyIf }));
      expect(stored === isRight, `replacing "${key}" was ${stored ? "stored" : "refused"}`);
    },
    async putParts({ key, value: { name: valueName }, random }) {
      const partSize = random.pick([KiB, 64 * KiB, 150 * KiB]);
      const value = { name: valueName, size: partSize * 2 + random.between(1, partSize) };
      const bytes = bytesOf(key, value);
      const upload = await bucket.createMultipartUpload(key);
      const report = { bucket: name, key, upload: upload.uploadId, value, partSize };
      const parts = await Promise.all(
        [1, 2, 3].map(async (number) => {
          const piece = bytes.subarray((number - 1) * partSize, number * partSize);
          const { etag } = await upload.uploadPart(number, piece);
          say({ said: "part", ...report, number, etag } satisfies UploadReport);
          return { partNumber: number, etag };
        }),
      );
      say({ said: "ending", ...report, number: 0, etag: "" } satisfies UploadReport);
      await reporting([key], value, () => upload.complete(parts));
    },
    async abandonUpload({ key, value, random }) {
      const upload = await bucket.createMultipartUpload(key);
      await upload.uploadPart(1, bytesOf(key, { ...value, size: 64 * KiB }));
      await upload.uploadPart(1, bytesOf(key, { ...value, size: 65 * KiB }));
      if (random.below(4) > 0) await upload.abort();
    },
    async failStream({ key, value, random }) {
      const end = random.pick([KiB, 64 * KiB, 300 * KiB]);
      const stream = streamOf(bytesOf(key, { ...value, size: MiB }), {
        before(offset) {
          if (offset >= end) throw new Error("the sender is gone");
        },
      });
      const error = await bucket.put(key, stream).then(
        () => new Error("a put was acknowledged although its stream failed"),
        (error: unknown) => error,
      );
      if (!String(error).includes("the sender is gone")) throw error;
    },
  };
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`A condition was not applied: ${what}`);
}
