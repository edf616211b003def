// Registers this process in the cluster's table of processes and sends a heartbeat every few
// seconds, with the time of its oldest read. A process without a heartbeat for too long is marked
// as dead and its sessions are fenced. If it was only suspended, it registers again under a new id.
import type { Connection, Row, Statement } from "./connection.ts";

export interface Heartbeat {
  /** Changes if this process was marked as dead and has registered again. */
  readonly processId: number;
  /** Inserts a session for a connection and returns its id. */
  beginSession(connection: Connection, until: number): Promise<number>;
  /**
   * Starts a read. No machine removes blobs that it may see until the returned function is called.
   */
  beginRead(): () => void;
  /** Sends a heartbeat. Returns the start of the oldest read of all processes, in database time. */
  horizon(): Promise<number>;
  close(): Promise<void>;
}

export interface HeartbeatOptions {
  run(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  readonly heartbeatMilliseconds: number;
}

const insertProcess: Statement = {
  name: "insert process",
  text: "INSERT INTO store.processes (beat) VALUES (store.clock()) RETURNING id, beat",
};
// Adds a microsecond, so that heartbeats increase even if the database's clock stands still.
const updateProcess: Statement = {
  name: "heartbeat",
  text: "UPDATE store.processes SET beat = store.clock() + 0.000001, reading = $2 WHERE id = $1 RETURNING beat",
};
const selectHorizon: Statement = {
  name: "horizon",
  text: "SELECT min(least(beat, coalesce(reading, beat))) FROM store.processes",
};
const removeProcess: Statement = { name: "remove process", text: "SELECT store.leave($1)" };
// The lock prevents the process from being marked as dead before its session is inserted.
const insertSession: Statement = {
  name: "session",
  text: `INSERT INTO store.sessions (process, last)
    SELECT id, 0 FROM store.processes WHERE id = $1 FOR KEY SHARE RETURNING id`,
};

export async function startHeartbeat({ run, heartbeatMilliseconds }: HeartbeatOptions): Promise<Heartbeat> {
  let processId = 0;
  let lastBeat = 0;
  /** For each read in flight, the time of the last heartbeat before the read started. */
  const reads = new Set<{ readonly since: number }>();
  let registering: Promise<void> | undefined;
  let lastSend: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function register(): Promise<void> {
    const [row] = await run(insertProcess, []);
    processId = Number(row![0]);
    lastBeat = Number(row![1]);
  }

  /**
   * Shares one registration: concurrent callers may notice that this process was marked as dead.
   */
  function registerOnce(): Promise<void> {
    registering ??= register().finally(() => {
      registering = undefined;
    });
    return registering;
  }

  async function sendBeat(): Promise<void> {
    const oldest = Math.min(...Array.from(reads, ({ since }) => since));
    const [row] = await run(updateProcess, [processId, Number.isFinite(oldest) ? oldest : null]);
    if (row === undefined) await registerOnce();
    else lastBeat = Number(row[0]);
  }

  /** Sends heartbeats one after another, so that an earlier one cannot arrive after a later one. */
  function sendBeatInOrder(): Promise<void> {
    const sending = lastSend.then(sendBeat);
    lastSend = sending.catch(() => {});
    return sending;
  }

  await register();
  // Skip a heartbeat while one is in flight: if the database is unavailable, they would queue up
  // and delay `close`.
  let isSending = false;
  const timer = setInterval(() => {
    if (isSending) return;
    isSending = true;
    sendBeatInOrder()
      // Ignored: the database is unavailable, and the next heartbeat is a retry.
      .catch(() => {})
      .finally(() => {
        isSending = false;
      });
  }, heartbeatMilliseconds).unref();

  return {
    get processId() {
      return processId;
    },
    async beginSession(connection, until) {
      for (;;) {
        const [row] = await connection.query(insertSession, [processId], until);
        if (row !== undefined) return Number(row[0]);
        await registerOnce();
      }
    },
    beginRead() {
      const read = { since: lastBeat };
      reads.add(read);
      return () => reads.delete(read);
    },
    async horizon() {
      await sendBeatInOrder();
      const [row] = await run(selectHorizon, []);
      return Number(row![0]);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(timer);
      await lastSend;
      // If this fails, other processes mark this process as dead after the timeout.
      await run(removeProcess, [processId]).catch(() => {});
    },
  };
}
