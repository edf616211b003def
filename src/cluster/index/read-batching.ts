// Reads of single records. One that finds others under way waits for one of them to end, and goes with all that came
// meanwhile in one statement: most of what a small statement costs is the way there and back.
import type { Row } from "../postgres/connection.ts";
import type { Database } from "../postgres/database.ts";
import { queries } from "./queries.ts";

/** The row's columns, null for what is not there; undefined when there is no bucket. */
export type ReadOne = (bucket: string, key: Uint8Array) => Promise<Row | undefined>;

interface PendingRead {
  readonly bucket: string;
  readonly key: Uint8Array;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Of one statement. A server that must fetch them from its disk does so one after the other. */
const maxBatchReads = 32;
const maxInFlight = 2;

export function createReadBatching(database: Pick<Database, "read">): ReadOne {
  const waiting: PendingRead[] = [];
  let inFlight = 0;

  async function readRows(batch: readonly PendingRead[]): Promise<readonly (Row | undefined)[]> {
    const [one] = batch;
    if (batch.length === 1) return database.read(queries.object, [one!.bucket, one!.key]);
    const values = [batch.map(({ bucket }) => bucket), batch.map(({ key }) => key)];
    const rows = await database.read(queries.objectBatch, values);
    return rows.map(([isBucket, ...row]) => (isBucket === true ? row : undefined));
  }

  async function drain(): Promise<void> {
    inFlight++;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxBatchReads);
      try {
        const rows = await readRows(batch);
        for (const [i, { resolve }] of batch.entries()) resolve(rows[i]);
      } catch (error) {
        // Whoever came behind has waited as long: told now, and not after another time as long.
        for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
      }
    }
    inFlight--;
  }

  return (bucket, key) =>
    new Promise((resolve, reject) => {
      waiting.push({ bucket, key, resolve, reject });
      if (inFlight < maxInFlight) void drain();
    });
}
