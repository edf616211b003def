// A process of hostile clients: thousands of sockets from many loopback addresses that stay idle,
// pipeline, send slowly or never read. It only counts results; other processes check the server.
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { answerCalls } from "../../support/called-process.ts";

export interface Crowd {
  readonly port: number;
  readonly count: number;
  /** Range of N in the local addresses 127.0.0.N, used in turn. */
  readonly addresses: readonly [first: number, last: number];
}

export interface Opened {
  readonly connected: number;
  readonly failed: number;
}

/** A request that is sent again and again. */
export interface RepeatedRequest {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each character is a byte. */
  readonly body?: string;
  /** Length of the pieces in which the body is sent, each a chunk; default: the whole body. */
  readonly pieceBytes?: number;
}

/** Time limit for all connections to open, in milliseconds. */
const patience = 20_000;
/** Time limit for a request that is answered by many steps of work, between those of others. */
const repeatPatience = 60_000;
const held = new Set<Socket>();
const timers = new Set<NodeJS.Timeout>();

function addressOf([first, last]: Crowd["addresses"], index: number): string {
  return `127.0.0.${first + (index % (last - first + 1))}`;
}

/** Opens all connections concurrently and waits until each is connected or failed. */
async function open({ port, count, addresses }: Crowd): Promise<{ sockets: Socket[]; opened: Opened }> {
  const sockets: Socket[] = [];
  let connected = 0;
  let failed = 0;
  await new Promise<void>((resolve) => {
    const late = setTimeout(resolve, patience);
    const settle = () => {
      if (connected + failed < count) return;
      clearTimeout(late);
      resolve();
    };
    for (let i = 0; i < count; i++) {
      const socket = connect({ port, host: "127.0.0.1", localAddress: addressOf(addresses, i) });
      let isSettled = false;
      socket.on("error", () => {});
      socket.once("connect", () => {
        isSettled = true;
        connected++;
        sockets.push(socket);
        settle();
      });
      socket.once("close", () => {
        held.delete(socket);
        if (isSettled) return;
        failed++;
        settle();
      });
      held.add(socket);
    }
  });
  return { sockets, opened: { connected, failed: count - connected } };
}

function closeAll(): void {
  for (const timer of timers) clearInterval(timer);
  timers.clear();
  for (const socket of held) socket.destroy();
  held.clear();
}

const calls = {
  /** Opens idle connections and holds them. */
  async hold(crowd: Crowd): Promise<Opened> {
    return (await open(crowd)).opened;
  },
  /** Opens idle connections and closes them as soon as all are open. */
  async burst(crowd: Crowd): Promise<Opened> {
    const { sockets, opened } = await open(crowd);
    for (const socket of sockets) socket.destroy();
    return opened;
  },
  /** Sends the text once on each connection and never reads the response. */
  async sendUnread({ text, ...crowd }: Crowd & { readonly text: string }): Promise<Opened> {
    const { sockets, opened } = await open(crowd);
    for (const socket of sockets) {
      socket.pause();
      socket.write(text, "latin1");
    }
    return opened;
  },
  /** Sends one request on each of many new connections at once; counts statuses (see `askOnce`). */
  async ask(crowd: Crowd & { readonly texts: readonly string[] }): Promise<Readonly<Record<string, number>>> {
    const statuses: Record<string, number> = {};
    await Promise.all(
      Array.from({ length: crowd.count }, async (_, index) => {
        const status = await askOnce(crowd, index);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }),
    );
    return statuses;
  },
  /** Sends a head, then a byte of the body every half second. */
  async drip({ head, ...crowd }: Crowd & { readonly head: string }): Promise<Opened> {
    const { sockets, opened } = await open(crowd);
    for (const socket of sockets) socket.write(head, "latin1");
    const timer = setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed) socket.write("x");
    }, 500);
    timers.add(timer);
    return opened;
  },
  /** Sends `count` requests, `at` of them concurrently; counts statuses (0: connection broken). */
  async flood(
    given: Crowd & { readonly at: number; readonly path: string; readonly headers: Record<string, string> },
  ) {
    const statuses: Record<number, number> = {};
    let left = given.count;
    const client = async (index: number) => {
      while (left-- > 0) {
        const status = await ask(given, addressOf(given.addresses, index));
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: given.at }, (_, index) => client(index)));
    return statuses;
  },
  /** Sends the requests in turn for a time, `at` of them concurrently; counts statuses. */
  async repeat(given: {
    readonly requests: readonly RepeatedRequest[];
    readonly at: number;
    readonly milliseconds: number;
  }): Promise<Readonly<Record<number, number>>> {
    const { requests, at, milliseconds } = given;
    // Another address than the honest clients have, because failures of an address slow down all of it.
    const agent = new Agent({ keepAlive: true, maxSockets: at, localAddress: "127.0.0.2" });
    const statuses: Record<number, number> = {};
    const end = Date.now() + milliseconds;
    let next = 0;
    const client = async () => {
      while (Date.now() < end) {
        const status = await repeatOnce(requests[next++ % requests.length]!, agent);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: at }, client));
    agent.destroy();
    return statuses;
  },
  async release(_: null): Promise<{ readonly stillOpen: number }> {
    const stillOpen = [...held].filter((socket) => !socket.destroyed && !socket.connecting).length;
    closeAll();
    return { stillOpen };
  },
};

function ask(
  {
    port,
    path,
    headers,
  }: { readonly port: number; readonly path: string; readonly headers: Record<string, string> },
  localAddress: string,
): Promise<number> {
  return new Promise((resolve) => {
    const asked = request(
      { host: "127.0.0.1", port, path, headers, localAddress, agent: false },
      (answer) => {
        answer.resume();
        answer.on("end", () => resolve(answer.statusCode!));
        answer.on("error", () => resolve(0));
      },
    );
    asked.setTimeout(patience, () => asked.destroy());
    asked.on("error", () => resolve(0));
    asked.end();
  });
}

/** Returns the status of a whole response, "refused" if the connection broke before it, or "silent". */
function askOnce(
  { port, addresses, texts }: Crowd & { readonly texts: readonly string[] },
  index: number,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: addressOf(addresses, index) });
    let head = "";
    const late = setTimeout(() => {
      resolve("silent");
      socket.destroy();
    }, repeatPatience);
    socket.on("error", () => {});
    socket.on("connect", () => socket.write(texts[index % texts.length]!, "latin1"));
    socket.on("data", (piece) => {
      if (head.length < 16) head += piece.toString("latin1");
    });
    socket.once("close", () => {
      clearTimeout(late);
      resolve(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? "refused");
    });
  });
}

/** Returns the status; 0 if the connection broke, or if there was no answer in time. */
function repeatOnce(given: RepeatedRequest, agent: Agent): Promise<number> {
  const { port, method, path, headers = {}, body = "", pieceBytes = Math.max(1, body.length) } = given;
  return new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, method, path, headers, agent }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode!));
      answer.on("error", () => resolve(0));
    });
    asked.setTimeout(repeatPatience, () => asked.destroy());
    asked.on("error", () => resolve(0));
    for (let from = 0; from + pieceBytes < body.length; from += pieceBytes) {
      asked.write(body.slice(from, from + pieceBytes), "latin1");
    }
    asked.end(body.slice(-pieceBytes), "latin1");
  });
}

export type AttackerCalls = typeof calls;

answerCalls(calls);
