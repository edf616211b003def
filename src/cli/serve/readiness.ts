// Whether a server can serve, for load balancers and supervisors: every port answers a request, every script has a process,
// and the store commits a write. Checked at most every two seconds, however often it is asked. Anyone may read the answer,
// so it names neither an address nor a path.
import type { Documents } from "../../engine/records.ts";
import { type ProbeTarget, probePort } from "../../http/probe.ts";
import { StoreError } from "../../model/errors.ts";
import type { ScriptServer } from "../../script/supervisor/supervisor.ts";

export interface ReadinessOptions {
  readonly documents: Documents;
  readonly scripts: Pick<ScriptServer, "scripts"> | undefined;
  /** The ports that are open now. */
  readonly ports: () => readonly NamedPort[];
  /** The secret that makes a port answer by itself. */
  readonly probe: string;
  readonly log: (line: string) => void;
}

export interface NamedPort extends ProbeTarget {
  /** At the beginning of a sentence. */
  readonly title: string;
}

const freshMilliseconds = 2000;
/** Trouble is looked at again sooner: a server that has recovered is put back into service without delay. */
const troubledMilliseconds = 100;
const timeoutMilliseconds = 5000;
const portMilliseconds = 2000;
const kind = "housekeeping";
const name = "readiness";

/** What keeps it from serving; nothing when it serves. */
export function createReadiness({
  documents,
  scripts,
  ports,
  probe,
  log,
}: ReadinessOptions): () => Promise<readonly string[]> {
  let isLogged = false;
  let lastCheck: { until: number; readonly troubles: Promise<readonly string[]> } | undefined;

  async function check(): Promise<readonly string[]> {
    const answers = ports().map(async (port) =>
      (await probePort(port, probe, portMilliseconds)) ? undefined : `${port.title} does not answer.`,
    );
    const troubles = await Promise.all([withTimeout(timeoutMilliseconds, write()), ...answers]);
    return troubles.filter((trouble) => trouble !== undefined);
  }

  /** A small document is written: that goes the way of every commit. */
  async function write(): Promise<string | undefined> {
    try {
      const current = await documents.get(kind, name);
      // Another server of the same store may be faster, which is as good.
      await documents.put(kind, name, new Date().toISOString(), current?.revision);
      isLogged = false;
      return undefined;
    } catch (error) {
      // Objects can still be read and deleted, so the server stays in service.
      if (error instanceof StoreError && error.reason === "InsufficientStorage") return undefined;
      if (!isLogged)
        log(`The store takes no writes: ${error instanceof Error ? error.message : String(error)}`);
      isLogged = true;
      return "The store takes no writes; see the server's log.";
    }
  }

  return async () => {
    if (lastCheck === undefined || performance.now() > lastCheck.until) {
      const latest = { until: Number.POSITIVE_INFINITY, troubles: check() };
      lastCheck = latest;
      void latest.troubles.then(({ length }) => {
        latest.until = performance.now() + (length === 0 ? freshMilliseconds : troubledMilliseconds);
      });
    }
    const stopped = (scripts?.scripts ?? []).filter(({ pool }) => !pool.isUp());
    return [
      ...(await lastCheck.troubles),
      ...stopped.map(({ config }) => `The script "${config.name}" has no process that serves.`),
    ];
  };
}

async function withTimeout(
  milliseconds: number,
  work: Promise<string | undefined>,
): Promise<string | undefined> {
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
