// A process full of hostile clients: sockets by the thousand, from many addresses of loopback, that are opened, held,
// pipelined on or left unread. It counts what it met; whether the server bears it is for others to say.
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { answerCalls } from "../../support/called-process.ts";

export interface Crowd {
  readonly port: number;
  readonly count: number;
  /** The last byte of the local addresses, 127.0.0.N, that take turns. */
  readonly addresses: readonly [first: number, last: number];
}

export interface Opened {
  readonly connected: number;
  readonly failed: number;
}

/** How long connections may take to come up, all together. */
const patience = 20_000;
const held = new Set<Socket>();
const timers = new Set<NodeJS.Timeout>();

function addressOf([first, last]: Crowd["addresses"], index: number): string {
  return `127.0.0.${first + (index % (last - first + 1))}`;
}

/** Opens them all at once, and waits until each is connected or has failed. */
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
  /** Opens connections without a byte and holds them. */
  async hold(crowd: Crowd): Promise<Opened> {
    return (await open(crowd)).opened;
  },
  /** Opens connections without a byte, and closes them at once when all are open. */
  async burst(crowd: Crowd): Promise<Opened> {
    const { sockets, opened } = await open(crowd);
    for (const socket of sockets) socket.destroy();
    return opened;
  },
  /** Sends each of these bytes once on a connection, and never reads. */
  async sendUnread({ text, ...crowd }: Crowd & { readonly text: string }): Promise<Opened> {
    const { sockets, opened } = await open(crowd);
    for (const socket of sockets) {
      socket.pause();
      socket.write(text, "latin1");
    }
    return opened;
  },
  /** Sends a head, and then a byte of the body now and then. */
  async drip({ head, ...crowd }: Crowd & { readonly head: string }): Promise<Opened> {
    const { sockets, opened } = await open(crowd);
    for (const socket of sockets) socket.write(head, "latin1");
    const timer = setInterval(() => {
      for (const socket of sockets) if (!socket.destroyed) socket.write("x");
    }, 500);
    timers.add(timer);
    return opened;
  },
  /** Sends the request over and over, so many at a time, and counts the answers by status; 0 is a connection that broke. */
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

export type AttackerCalls = typeof calls;

answerCalls(calls);
