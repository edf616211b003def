// A TCP proxy that does to connections what networks do: refuses them, falls silent, cuts them, damages bytes.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

export type Fault =
  /** What comes is taken and never answered. */
  | { readonly kind: "silent" }
  /** The answer's first bytes pass, then nothing more comes. */
  | { readonly kind: "silent within"; readonly after: number }
  /** The answer's first bytes pass, then the connection is cut. 0: the request was taken, its answer is lost. */
  | { readonly kind: "cut answer"; readonly after: number }
  /** The request's first bytes pass, then the connection is cut. */
  | { readonly kind: "cut request"; readonly after: number }
  /** The answer comes in drops of so many bytes. */
  | { readonly kind: "slow answer"; readonly drop: number }
  /** The byte at this place of the request, or of the answer, is another. */
  | { readonly kind: "flip request"; readonly at: number }
  | { readonly kind: "flip answer"; readonly at: number };

export interface FaultProxy {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Faults that have happened. */
  readonly happened: number;
  /** The next connections have these faults, one each; connections that are kept are cut first. */
  plan(...faults: Fault[]): void;
  /** Every connection has it until told otherwise. */
  planAlways(fault: Fault | undefined): void;
  untilHappened(faults: number): Promise<void>;
  /** Waits until its clients have given up every connection. */
  untilLeft(): Promise<void>;
  /** Nobody listens; or somebody does again. */
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

/** What happens to one direction of a connection, at which byte. */
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
