// Reads of single records. One that finds others under way waits for one of them to end, and goes with all that came
// meanwhile in one statement: most of what a small statement costs is the way there and back.
import type { Row } from "../postgres/connection.ts";
import type { Database } from "../postgres/database.ts";
import { queries } from "./queries.ts";

/** The row's columns, null for what is not there; undefined when there is no bucket. */
export type ReadOne = (bucket: string, key: Uint8Array) => Promise<Row | undefined>;

interface Asked {
  readonly bucket: string;
  readonly key: Uint8Array;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Of one statement. A server that must fetch them from its disk does so one after the other. */
const mostAtOnce = 32;
const mostUnderWay = 2;

export function gatherReads(database: Pick<Database, "read">): ReadOne {
  const waiting: Asked[] = [];
  let underWay = 0;

  async function rowsOf(asked: readonly Asked[]): Promise<readonly (Row | undefined)[]> {
    const [one] = asked;
    if (asked.length === 1) return database.read(queries.object, [one!.bucket, one!.key]);
    const values = [asked.map(({ bucket }) => bucket), asked.map(({ key }) => key)];
    const rows = await database.read(queries.gatheredObjects, values);
    return rows.map(([isBucket, ...row]) => (isBucket === true ? row : undefined));
  }

  async function readOn(): Promise<void> {
    underWay++;
    while (waiting.length > 0) {
      const asked = waiting.splice(0, mostAtOnce);
      try {
        const rows = await rowsOf(asked);
        for (const [i, { resolve }] of asked.entries()) resolve(rows[i]);
      } catch (error) {
        // Whoever came behind has waited as long: told now, and not after another time as long.
        for (const { reject } of [...asked, ...waiting.splice(0)]) reject(error);
      }
    }
    underWay--;
  }

  return (bucket, key) =>
    new Promise((resolve, reject) => {
      waiting.push({ bucket, key, resolve, reject });
      if (underWay < mostUnderWay) void readOn();
    });
}
