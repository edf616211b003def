// Readiness check for load balancers: every port answers, every script has a process, and the store
// commits a write. Results are cached briefly. They are public: they contain no address or path.
import type { Documents } from "../../engine/records.ts";
import { type ProbeTarget, probePort } from "../../http/probe.ts";
import { errorMessage, StoreError } from "../../model/errors.ts";
import type { ScriptServer } from "../../script/supervisor/supervisor.ts";

export interface ReadinessOptions {
  readonly documents: Documents;
  readonly scripts: Pick<ScriptServer, "scripts"> | undefined;
  /** Returns the ports that are open now. */
  readonly ports: () => readonly NamedPort[];
  /** The secret that authenticates probes of a port. */
  readonly probe: string;
  readonly log: (line: string) => void;
}

export interface NamedPort extends ProbeTarget {
  /** Name of the port, capitalized because it starts a sentence. */
  readonly title: string;
}

const freshMilliseconds = 2000;
/** Problems are cached for less time, so that a recovered server is quickly back in service. */
const troubledMilliseconds = 100;
const timeoutMilliseconds = 5000;
const portMilliseconds = 2000;
const kind = "housekeeping";
const name = "readiness";

/** Returns a check that lists problems; an empty list means ready. */
export function createReadiness(options: ReadinessOptions): () => Promise<readonly string[]> {
  const { documents, scripts, ports, probe, log } = options;
  let isLogged = false;
  let lastCheck: { until: number; readonly troubles: Promise<readonly string[]> } | undefined;

  async function check(): Promise<readonly string[]> {
    const answers = ports().map(async (port) =>
      (await probePort(port, probe, portMilliseconds)) ? undefined : `${port.title} does not answer.`,
    );
    const troubles = await Promise.all([withTimeout(timeoutMilliseconds, write()), ...answers]);
    return troubles.filter((trouble) => trouble !== undefined);
  }

  /** Writes a small document to test that commits work. Returns the problem, if any. */
  async function write(): Promise<string | undefined> {
    try {
      const current = await documents.get(kind, name);
      // A conflict with another server of the same store also proves that writes work.
      await documents.put(kind, name, new Date().toISOString(), current?.revision);
      isLogged = false;
      return undefined;
    } catch (error) {
      // The disk is full, but objects can be read and deleted: the server stays in service.
      if (error instanceof StoreError && error.reason === "InsufficientStorage") return undefined;
      if (!isLogged) log(`The store cannot write: ${errorMessage(error)}`);
      isLogged = true;
      return "The store cannot write; see the server's log.";
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
      ...stopped.map(({ config }) => `The script "${config.name}" has no running process.`),
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
