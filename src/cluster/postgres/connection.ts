// A connection to the database. It is closed if a statement misses its deadline: a cancelled commit
// could still happen with synchronous replication, so statements are not cancelled.
import type { Buffer } from "node:buffer";
import type { EventEmitter } from "node:events";
import { isIP, Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import type { ConnectionOptions } from "node:tls";
import type { ClientConfig } from "pg";
import { guardMessages } from "./message-guard.ts";
import { isCertificateFault, tlsFault } from "./tls-fault.ts";
import { type DatabaseAddress, type Host, resolveTls, type Tls } from "./url.ts";

export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Prepared statements, each named after its key. */
export function statements<Key extends string>(texts: Record<Key, string>): Readonly<Record<Key, Statement>> {
  const named = Object.entries<string>(texts).map(([name, text]) => [name, { name, text }]);
  return Object.fromEntries(named) as Record<Key, Statement>;
}

export type Row = readonly unknown[];

export interface Connection {
  /** The primary's generation (primary.ts) when this connection was opened. */
  readonly generation: number;
  /** Runs a prepared statement. Rejects with a LostConnection or with the server's error. */
  query(statement: Statement, values: readonly unknown[], until: number): Promise<readonly Row[]>;
  /** Runs SQL text that is not prepared, possibly several statements. */
  run(text: string, values: readonly unknown[] | undefined, until: number): Promise<readonly Row[]>;
  /** Whether the server sent a warning during the last statement. */
  readonly hasWarning: boolean;
  readonly isLost: boolean;
  end(): void;
}

/** The connection was lost, so it is unknown whether the statement was executed. */
export class LostConnection extends Error {}

/** The package `pg`, an optional dependency, is not installed. Retrying does not help. */
export class MissingDriver extends Error {}

type Client = import("pg").Client;

/** The server's response to SSLRequest if it does not support TLS. */
const noTls = "N".charCodeAt(0);

export async function openConnection(
  address: DatabaseAddress,
  { host, port }: Host,
  options: { readonly generation: number; readonly until: number },
): Promise<Connection> {
  const { Client } = await loadDriver();
  const tls = resolveTls(address, host);
  let socket: Socket | undefined;
  let refusesTls = false;
  const config: ClientConfig = {
    host,
    port,
    user: address.user,
    password: address.password,
    database: address.database,
    application_name: "store",
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    stream: () => {
      socket = new Socket();
      if (tls !== undefined) socket.once("data", ([first]: Buffer) => (refusesTls = first === noTls));
      return socket;
    },
    ...(tls === undefined ? {} : { ssl: tlsOptions(tls, host) }),
  };
  const client = new Client(config);
  const state = watchConnection(client);
  try {
    const connected = client.connect();
    guardConnection(client, tls !== undefined);
    await withDeadline(connected, options.until, () => socket?.destroy());
  } catch (error) {
    socket?.destroy();
    const fault = refusesTls ? "refused" : isCertificateFault(error) ? "certificate" : undefined;
    throw fault === undefined ? error : tlsFault(fault, `${host}:${port}`, error);
  }
  return createConnection(client, socket!, state, options.generation);
}

/** The driver's part of a client that reads messages, which its types do not have. */
type DriverConnection = EventEmitter & { readonly stream: Socket };

function guardConnection(client: Client, usesTls: boolean): void {
  const { connection } = client as unknown as { readonly connection: DriverConnection };
  // The driver listens to a plain socket from the start, and then to the one of TLS instead.
  if (usesTls) connection.once("sslconnect", () => guardMessages(connection.stream));
  else guardMessages(connection.stream);
}

function tlsOptions({ checksName, ...rest }: Tls, host: string): ConnectionOptions {
  return {
    ...rest,
    // The TLS server name must not be an IP address (RFC 6066, section 3).
    ...(isIP(host) === 0 ? { servername: host } : { host }),
    ...(checksName ? {} : { checkServerIdentity: () => undefined }),
  };
}

async function loadDriver(): Promise<typeof import("pg").default> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    throw new MissingDriver("PostgreSQL's driver is not installed. Run: npm install pg", { cause });
  }
}

interface ConnectionState {
  isLost: boolean;
  hasWarning: boolean;
}

function watchConnection(client: Client): ConnectionState {
  const state: ConnectionState = { isLost: false, hasWarning: false };
  // A query in flight is rejected by the driver or at its deadline.
  client.on("error", () => {
    state.isLost = true;
  });
  client.on("end", () => {
    state.isLost = true;
  });
  client.on("notice", ({ severity }) => {
    if (severity === "WARNING") state.hasWarning = true;
  });
  return state;
}

function createConnection(
  client: Client,
  socket: Socket,
  state: ConnectionState,
  generation: number,
): Connection {
  async function sendQuery(query: object, until: number): Promise<readonly Row[]> {
    state.hasWarning = false;
    const markLost = () => {
      state.isLost = true;
      socket.destroy();
    };
    try {
      const answer = (await withDeadline(
        client.query({ ...query, rowMode: "array" } as never),
        until,
        markLost,
      )) as unknown as { rows: Row[] } | { rows: Row[] }[];
      return (Array.isArray(answer) ? answer.at(-1)! : answer).rows;
    } catch (error) {
      if (error instanceof Error && "code" in error && "severity" in error) throw error;
      markLost();
      throw new LostConnection("The connection to the database was lost.", { cause: error });
    }
  }

  return {
    generation,
    query: ({ name, text }, values, until) => sendQuery({ name, text, values }, until),
    run: (text, values, until) => sendQuery(values === undefined ? { text } : { text, values }, until),
    get hasWarning() {
      return state.hasWarning;
    },
    get isLost() {
      return state.isLost;
    },
    end() {
      state.isLost = true;
      // Sends Terminate if possible, without waiting for the server to close the connection.
      client.end().catch(() => {});
      setTimeout(() => socket.destroy(), 1000).unref();
    },
  };
}

/** Returns the result of `work`. After the deadline, calls `onTimeout` and throws. */
async function withDeadline<T>(work: Promise<T>, until: number, onTimeout: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        onTimeout();
        reject(new Error("The database did not answer in time."));
      },
      Math.max(0, until - Date.now()),
    );
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
