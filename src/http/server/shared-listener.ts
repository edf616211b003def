// A port that several processes serve. This process binds the port; its children inherit the socket
// and accept connections themselves, so a blocked child does not delay the clients of others.
import { lookup } from "node:dns/promises";
import * as net from "node:net";
import process from "node:process";
import { getSystemErrorName } from "node:util";

export interface SharedListener {
  readonly port: number;
  /** The bound socket, to pass in the `stdio` option of a child process. */
  readonly handle: net.Socket;
  close(): void;
}

export interface PortAddress {
  readonly host: string;
  readonly port: number;
  /** What to do if the port is in use; default: fail. */
  readonly whenTaken?: WhenTaken | undefined;
}

export type WhenTaken = "fail" | "choose another";

/** Binds the port, or a free port if the requested one is in use and `whenTaken` permits it. */
export async function bindOrChoose<T, A extends PortAddress>(
  address: A,
  bind: (address: A) => Promise<T>,
): Promise<T> {
  try {
    return await bind(address);
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    if (!isTaken || address.whenTaken !== "choose another" || address.port === 0) throw error;
    return bind({ ...address, port: 0 });
  }
}

/** Maximum connections that wait to be accepted; the kernel limits it to net.core.somaxconn. */
export const backlog = 65_535;

export function bindShared({ host, port, whenTaken }: PortAddress): Promise<SharedListener> {
  return bindOrChoose({ host, port, whenTaken }, bindPort);
}

async function bindPort({ host, port }: PortAddress): Promise<SharedListener> {
  const { address, family } = await lookup(host);
  const handle = bindWithoutAccepting(address, port, family);
  if (handle === undefined) {
    throw new Error(`Node ${process.version} cannot share a port between processes. Use Node 20 to 26.`);
  }
  if (typeof handle === "number") throw bindError(handle, { host, port });
  const bound: { port?: number } = {};
  // libuv reports at this call, not at bind, that the port is in use.
  const fault = handle.getsockname(bound);
  if (fault !== 0) {
    handle.close();
    throw bindError(fault, { host, port });
  }
  return { port: bound.port ?? port, handle: handle as unknown as net.Socket, close: () => handle.close() };
}

function bindError(errno: number, { host, port }: PortAddress): Error {
  const code = getSystemErrorName(errno);
  return Object.assign(new Error(`listen ${code}: ${host}:${port}`), { code, errno, syscall: "listen" });
}

interface BoundHandle {
  getsockname(out: { port?: number }): number;
  close(): void;
}

/**
 * Binds a port without accepting connections. Returns a number for a system error, or undefined if
 * Node cannot do this. Undocumented, and used even if Node's internals are "off": there is no other way.
 */
function bindWithoutAccepting(
  address: string,
  port: number,
  family: number,
): BoundHandle | number | undefined {
  const { _createServerHandle: createHandle } = net as {
    readonly _createServerHandle?: (...args: unknown[]) => BoundHandle | number;
  };
  return createHandle?.(address, port, family === 6 ? 6 : 4, -1, 0);
}
