// Finds the server that accepts writes among several hosts. The driver supports only one host.
import { setTimeout } from "node:timers";
import { type Connection, openConnection, type Statement } from "./connection.ts";
import { isPermanent, unavailable } from "./errors.ts";
import { type DatabaseAddress, formatAddress, type Host } from "./url.ts";

export interface Primary {
  /** Opens a connection to the primary. If there is none, waits for one until the deadline. */
  connect(until: number): Promise<Connection>;
  /** Incremented when the primary changes. Do not use connections of an earlier generation. */
  readonly generation: number;
  /** Drops the cached primary, because another server may have become the primary. */
  invalidate(): void;
}

/** Maximum time for one server to report its role. */
const probeMilliseconds = 2000;
/** Time to wait for a second primary: a server frozen during a failover still claims the role. */
const contradictMilliseconds = 200;
const pauseMilliseconds = 100;

const selectTimeline: Statement = {
  name: "timeline",
  text: `SELECT CASE WHEN pg_is_in_recovery() THEN NULL
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer END`,
};

interface FoundPrimary {
  readonly host: Host;
  /** PostgreSQL's timeline, which every failover increments. */
  readonly timeline: number;
}

export function createPrimary(address: DatabaseAddress): Primary {
  let current: FoundPrimary | undefined;
  let last: FoundPrimary | undefined;
  let generation = 0;
  let finding: Promise<FoundPrimary> | undefined;

  async function find(): Promise<FoundPrimary> {
    const found = await findNewest(address);
    if (found.host !== last?.host || found.timeline !== last.timeline) generation++;
    last = found;
    current = found;
    return found;
  }

  function findOnce(): Promise<FoundPrimary> {
    finding ??= find().finally(() => {
      finding = undefined;
    });
    return finding;
  }

  async function attempt(until: number): Promise<Connection> {
    const { host } = current ?? (await findOnce());
    const probeDeadline = Math.min(until, Date.now() + probeMilliseconds);
    const connection = await openConnection(address, host, { generation, until: probeDeadline });
    if ((await readTimeline(connection, probeDeadline)) !== undefined) return connection;
    connection.end();
    throw new Error("The server does not accept writes.");
  }

  return {
    get generation() {
      return generation;
    },
    invalidate() {
      current = undefined;
    },
    async connect(until) {
      for (;;) {
        try {
          return await attempt(until);
        } catch (error) {
          current = undefined;
          if (isPermanent(error)) throw error;
          if (Date.now() + pauseMilliseconds >= until) throw unavailable(formatAddress(address), error);
          await pause(pauseMilliseconds);
        }
      }
    },
  };
}

/** Returns undefined if the server is a standby. */
async function readTimeline(connection: Connection, until: number): Promise<number | undefined> {
  const [[timeline] = []] = await connection.query(selectTimeline, [], until);
  return timeline === null || timeline === undefined ? undefined : Number(timeline);
}

/** Returns the server with the newest timeline among those that claim to be the primary. */
async function findNewest(address: DatabaseAddress): Promise<FoundPrimary> {
  const found: FoundPrimary[] = [];
  const probes = address.hosts.map(async (host) => {
    found.push(await probe(address, host));
  });
  try {
    await Promise.any(probes);
  } catch (error) {
    const failures = (error as AggregateError).errors as unknown[];
    throw failures.find(isPermanent) ?? new Error("No server accepts writes.", { cause: failures[0] });
  }
  await Promise.race([Promise.allSettled(probes), pause(contradictMilliseconds)]);
  return found.sort((a, b) => b.timeline - a.timeline)[0]!;
}

async function probe(address: DatabaseAddress, host: Host): Promise<FoundPrimary> {
  const until = Date.now() + probeMilliseconds;
  const connection = await openConnection(address, host, { generation: 0, until });
  const timeline = await readTimeline(connection, until).finally(() => connection.end());
  if (timeline === undefined) throw new Error("The server takes no writes.");
  return { host, timeline };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
