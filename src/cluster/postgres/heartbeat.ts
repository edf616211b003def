// Registers this process and sends a heartbeat with the time of its oldest read. A silent process
// counts as dead and is fenced; if it was only suspended, it registers again under a new id.
import { clearInterval, setInterval } from "node:timers";
import { type Connection, type Row, type Statement, statements } from "./connection.ts";

export interface Heartbeat {
  /** Changes if this process was marked as dead and has registered again. */
  readonly processId: number;
  /** Inserts a session for a connection and returns its id. */
  beginSession(connection: Connection, until: number): Promise<number>;
  /** Starts a read. All blobs that it may use are kept until the returned function is called. */
  beginRead(): () => void;
  /** Sends a heartbeat. Returns the start of the oldest read of all processes, in database time. */
  horizon(): Promise<number>;
  close(): Promise<void>;
}

export interface HeartbeatOptions {
  run(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  readonly heartbeatMilliseconds: number;
}

const sql = statements({
  insertProcess: "INSERT INTO store.processes (beat) VALUES (store.clock()) RETURNING id, beat",
  // The added microsecond makes each beat later than the last, even if the clock stands still.
  updateProcess:
    "UPDATE store.processes SET beat = store.clock() + 0.000001, reading = $2 WHERE id = $1 RETURNING beat",
  selectHorizon: "SELECT min(least(beat, coalesce(reading, beat))) FROM store.processes",
  removeProcess: "SELECT store.leave($1)",
  // The lock prevents that the process is marked as dead before its session is inserted.
  insertSession: `INSERT INTO store.sessions (process, last)
    SELECT id, 0 FROM store.processes WHERE id = $1 FOR KEY SHARE RETURNING id`,
});

export async function startHeartbeat({ run, heartbeatMilliseconds }: HeartbeatOptions): Promise<Heartbeat> {
  let processId = 0;
  let lastBeat = 0;
  /** For each read in flight, the time of the last heartbeat before the read started. */
  const reads = new Set<{ readonly since: number }>();
  let registering: Promise<void> | undefined;
  let lastSend: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function register(): Promise<void> {
    const [row] = await run(sql.insertProcess, []);
    processId = Number(row![0]);
    lastBeat = Number(row![1]);
  }

  /** Concurrent callers that find this process marked as dead share one registration. */
  function registerOnce(): Promise<void> {
    registering ??= register().finally(() => {
      registering = undefined;
    });
    return registering;
  }

  async function sendBeat(): Promise<void> {
    const oldest = Math.min(...Array.from(reads, ({ since }) => since));
    const [row] = await run(sql.updateProcess, [processId, Number.isFinite(oldest) ? oldest : null]);
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
        const [row] = await connection.query(sql.insertSession, [processId], until);
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
      const [row] = await run(sql.selectHorizon, []);
      return Number(row![0]);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(timer);
      await lastSend;
      // If this fails, other processes mark this one as dead after the timeout.
      await run(sql.removeProcess, [processId]).catch(() => {});
    },
  };
}
