// Batches concurrent reads of single records into one statement, because a small statement costs
// little more than its round trip. While enough reads are in flight, new reads wait for a batch.
import type { Row, Statement } from "../postgres/connection.ts";
import type { Database } from "../postgres/database.ts";

/** Returns the row, with nulls if the object is missing. Undefined if the bucket is missing. */
export type ReadOne = (bucket: string, key: Uint8Array) => Promise<Row | undefined>;

/** The statement for one object, and the one for many, whose first column is whether there is a bucket. */
export interface BatchedQuery {
  readonly one: Statement;
  readonly many: Statement;
}

interface PendingRead {
  readonly bucket: string;
  readonly key: Uint8Array;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Small, because PostgreSQL reads rows that are not in memory one after the other. */
const maxBatchReads = 32;
const maxInFlight = 2;

export function createReadBatching(
  database: Pick<Database, "read">,
  { one: single, many }: BatchedQuery,
): ReadOne {
  const waiting: PendingRead[] = [];
  let inFlight = 0;

  async function readRows(batch: readonly PendingRead[]): Promise<readonly (Row | undefined)[]> {
    const [one] = batch;
    if (batch.length === 1) return database.read(single, [one!.bucket, one!.key]);
    const values = [batch.map(({ bucket }) => bucket), batch.map(({ key }) => key)];
    const rows = await database.read(many, values);
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
        // Reject queued reads now; otherwise they would wait for another timeout.
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
