// A TCP proxy that injects network faults: it refuses connections, stalls, cuts and corrupts them.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

export type Fault =
  /** The request is accepted and dropped, so it is never answered. */
  | { readonly kind: "silent" }
  /** The first `after` bytes of the response pass, then nothing more is sent. */
  | { readonly kind: "silent within"; readonly after: number }
  /** The first `after` bytes of the response pass, then the connection is cut. */
  | { readonly kind: "cut answer"; readonly after: number }
  /** The first `after` bytes of the request pass, then the connection is cut. */
  | { readonly kind: "cut request"; readonly after: number }
  /** The response is sent in chunks of `drop` bytes. */
  | { readonly kind: "slow answer"; readonly drop: number }
  /** One bit of the byte at this offset of the request or response is flipped. */
  | { readonly kind: "flip request"; readonly at: number }
  | { readonly kind: "flip answer"; readonly at: number };

export interface FaultProxy {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Faults that have happened so far. */
  readonly happened: number;
  /** Applies one fault to each of the next connections; open connections are cut first. */
  plan(...faults: Fault[]): void;
  /** Applies the fault to every later connection without a planned fault; undefined: no fault. */
  planAlways(fault: Fault | undefined): void;
  untilHappened(faults: number): Promise<void>;
  /** Waits until all connections are closed. */
  untilLeft(): Promise<void>;
  /** Closes the listening socket and all connections; `accept` listens again on the same port. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
}

export async function startFaultProxy(t: Pick<TestContext, "after">, target: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  const planned: Fault[] = [];
  let always: Fault | undefined;
  let accepted = 0;
  let happened = 0;
  let port = 0;
  let server: Server | undefined;

  function serve(client: Socket): void {
    accepted++;
    const fault = planned.shift() ?? always;
    const upstream = connect(target, "127.0.0.1");
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on("error", cut);
      socket.on("close", () => {
        sockets.delete(socket);
        cut();
        for (const wake of waiting.splice(0)) wake();
      });
    }
    const happen = () => {
      happened++;
      for (const wake of waiting.splice(0)) wake();
    };
    pass(client, upstream, { fault: faultOf(fault, "request"), cut, happen });
    pass(upstream, client, { fault: faultOf(fault, "answer"), cut, happen });
  }

  async function accept(): Promise<void> {
    server = createServer(serve);
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  }

  function cutAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  async function refuse(): Promise<void> {
    if (server === undefined) return;
    const closed = once(server, "close");
    server.close();
    server = undefined;
    cutAll();
    await closed;
  }

  const something = () => new Promise<void>((resolve) => waiting.push(resolve));

  await accept();
  t.after(refuse);
  return {
    port,
    get accepted() {
      return accepted;
    },
    get happened() {
      return happened;
    },
    plan(...faults) {
      cutAll();
      planned.push(...faults);
    },
    planAlways(fault) {
      cutAll();
      always = fault;
    },
    async untilHappened(faults) {
      while (happened < faults) await something();
    },
    async untilLeft() {
      while (sockets.size > 0) await something();
    },
    refuse,
    accept,
  };
}

/** The fault of one direction of a connection, and its offset in bytes. */
interface OneWay {
  readonly does: "silence" | "cut" | "flip" | "drip";
  readonly at: number;
}

function faultOf(fault: Fault | undefined, way: "request" | "answer"): OneWay | undefined {
  if (fault === undefined) return undefined;
  if (fault.kind === "silent") return way === "request" ? { does: "silence", at: 0 } : undefined;
  if (fault.kind === "silent within")
    return way === "answer" ? { does: "silence", at: fault.after } : undefined;
  if (!fault.kind.endsWith(way)) return undefined;
  if ("drop" in fault) return { does: "drip", at: fault.drop };
  return "at" in fault ? { does: "flip", at: fault.at } : { does: "cut", at: fault.after };
}

interface Passing {
  readonly fault: OneWay | undefined;
  readonly cut: () => void;
  readonly happen: () => void;
}

function pass(from: Socket, to: Socket, { fault, cut, happen }: Passing): void {
  let passed = 0;
  let isOver = false;
  from.on("data", (chunk: Buffer) => {
    if (isOver || to.destroyed) return;
    const start = passed;
    passed += chunk.length;
    let sent = chunk;
    if (fault !== undefined && fault.does === "flip" && fault.at >= start && fault.at < passed) {
      chunk.writeUInt8(chunk.readUInt8(fault.at - start) ^ 1, fault.at - start);
      happen();
    } else if (fault !== undefined && fault.does === "drip") {
      happen();
      from.pause();
      drip(chunk, fault.at, to, () => from.resume());
      return;
    } else if (fault !== undefined && fault.does !== "flip" && passed > fault.at) {
      isOver = true;
      happen();
      sent = chunk.subarray(0, fault.at - start);
    }
    const done = () => {
      if (isOver && fault?.does === "cut") cut();
      else from.resume();
    };
    from.pause();
    if (sent.length === 0) done();
    else to.write(sent, done);
  });
  from.on("end", () => to.end());
}

function drip(bytes: Buffer, drop: number, to: Socket, done: () => void): void {
  if (bytes.length === 0 || to.destroyed) done();
  else
    to.write(bytes.subarray(0, drop), () => setImmediate(() => drip(bytes.subarray(drop), drop, to, done)));
}
