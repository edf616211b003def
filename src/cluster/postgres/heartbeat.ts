// This process among those that share the cluster: its row in the table of processes, its sign of life every few seconds,
// and how far back its reads go. One that is silent for too long is taken for dead and its sessions are fenced;
// if it was only asleep, it comes back as a new one.
import type { Connection, Row, Statement } from "./connection.ts";

export interface Heartbeat {
  /** The row's id; another one after this process was taken for dead. */
  readonly processId: number;
  /** A session for a connection: its row. */
  beginSession(connection: Connection, until: number): Promise<number>;
  /** A read begins; the answer ends it. What it may see stays until then, on whatever machine it is removed. */
  beginRead(): () => void;
  /** A sign of life now. The database's time before which no process of all that live can be reading. */
  horizon(): Promise<number>;
  close(): Promise<void>;
}

export interface HeartbeatOptions {
  run(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  readonly heartbeatMilliseconds: number;
}

const insertProcess: Statement = {
  name: "enter",
  text: "INSERT INTO store.processes (beat) VALUES (store.clock()) RETURNING id, beat",
};
// A moment behind whatever was seen before it, also while the clock stands still.
const updateProcess: Statement = {
  name: "beat",
  text: "UPDATE store.processes SET beat = store.clock() + 0.000001, reading = $2 WHERE id = $1 RETURNING beat",
};
const selectHorizon: Statement = {
  name: "horizon",
  text: "SELECT min(least(beat, coalesce(reading, beat))) FROM store.processes",
};
const removeProcess: Statement = { name: "leave", text: "SELECT store.leave($1)" };
// The lock keeps the process from being ended between the look at it and the session's making.
const insertSession: Statement = {
  name: "session",
  text: `INSERT INTO store.sessions (process, last)
    SELECT id, 0 FROM store.processes WHERE id = $1 FOR KEY SHARE RETURNING id`,
};

export async function startHeartbeat({ run, heartbeatMilliseconds }: HeartbeatOptions): Promise<Heartbeat> {
  let processId = 0;
  let lastBeat = 0;
  /** For each read under way, the last beat before it began: what it may see was there then, or came later. */
  const reads = new Set<{ readonly since: number }>();
  let registering: Promise<void> | undefined;
  let lastSend: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function register(): Promise<void> {
    const [row] = await run(insertProcess, []);
    processId = Number(row![0]);
    lastBeat = Number(row![1]);
  }

  /** Several notice at once that this process was taken for dead. */
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

  /** One after the other: an earlier one must not arrive behind a later one. */
  function sendBeatInOrder(): Promise<void> {
    const sending = lastSend.then(sendBeat);
    lastSend = sending.catch(() => {});
    return sending;
  }

  await register();
  // One at a time: while the database is away they would line up, and closing would wait for all of them.
  let isSending = false;
  const timer = setInterval(() => {
    if (isSending) return;
    isSending = true;
    sendBeatInOrder()
      // While the database is away there is nobody to tell.
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
      // Nobody waits for a process that says goodbye; one that cannot is taken for dead in time.
      await run(removeProcess, [processId]).catch(() => {});
    },
  };
}
