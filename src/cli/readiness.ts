// Whether a server can serve, for those who send it traffic: its processes are up, and the store takes a write. Asked often,
// it is looked at seldom. The words are for anybody, so they name neither an address nor a path.
import type { Documents } from "../engine/records.ts";
import { StoreError } from "../model/errors.ts";
import type { ScriptServer } from "../script/server.ts";

export interface ReadinessOptions {
  readonly documents: Documents;
  readonly s3: { isUp(): boolean };
  readonly scripts: Pick<ScriptServer, "scripts"> | undefined;
  readonly log: (line: string) => void;
}

const freshMilliseconds = 2000;
const patienceMilliseconds = 5000;
const kind = "housekeeping";
const name = "readiness";

/** What keeps it from serving; nothing when it serves. */
export function createReadiness({
  documents,
  s3,
  scripts,
  log,
}: ReadinessOptions): () => Promise<readonly string[]> {
  let isTold = false;
  let looked: { readonly at: number; readonly trouble: Promise<string | undefined> } | undefined;

  function storeTrouble(): Promise<string | undefined> {
    if (looked === undefined || performance.now() - looked.at > freshMilliseconds) {
      looked = { at: performance.now(), trouble: within(patienceMilliseconds, write()) };
    }
    return looked.trouble;
  }

  /** A small document is written: that goes the way of every commit. */
  async function write(): Promise<string | undefined> {
    try {
      const known = await documents.get(kind, name);
      // Another server of the same store may be faster, which is as good.
      await documents.put(kind, name, new Date().toISOString(), known?.revision);
      isTold = false;
      return undefined;
    } catch (error) {
      // What is there can be read and deleted: who takes the server out of service would only prevent that.
      if (error instanceof StoreError && error.reason === "InsufficientStorage") return undefined;
      if (!isTold)
        log(`The store takes no writes: ${error instanceof Error ? error.message : String(error)}`);
      isTold = true;
      return "The store takes no writes; the server's log tells why.";
    }
  }

  return async () => {
    const stopped = (scripts?.scripts ?? []).filter(({ pool }) => !pool.isUp());
    return [
      await storeTrouble(),
      s3.isUp() ? undefined : "The S3 API has no process up.",
      ...stopped.map(({ config }) => `The script "${config.name}" has no process up.`),
    ].filter((trouble) => trouble !== undefined);
  };
}

async function within(milliseconds: number, work: Promise<string | undefined>): Promise<string | undefined> {
  let late: NodeJS.Timeout | undefined;
  const tooLate = new Promise<string>((resolve) => {
    late = setTimeout(() => resolve("The store does not answer."), milliseconds);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(late);
  }
}
