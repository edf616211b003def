// A port that several processes serve. This process binds it and keeps it open; its children inherit the socket and
// accept on it themselves, so that no connection passes through this process and a child that blocks delays no client.
import { lookup } from "node:dns/promises";
import type { Socket } from "node:net";
import { getSystemErrorName } from "node:util";
import { bindWithoutAccepting } from "./node-internals.ts";

export interface SharedListener {
  readonly port: number;
  /** For the `stdio` of a child process. */
  readonly handle: Socket;
  close(): void;
}

export interface PortAddress {
  readonly host: string;
  readonly port: number;
  /** What to do when another process has the port; the default is to fail. */
  readonly whenTaken?: WhenTaken | undefined;
}

export type WhenTaken = "fail" | "choose another";

/** Binds the port, or a free one where the address permits that. */
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

/** Connections that the kernel completes before a process accepts them: as many as net.core.somaxconn allows. */
export const backlog = 65_535;

export function bindShared({ host, port, whenTaken }: PortAddress): Promise<SharedListener> {
  return bindOrChoose({ host, port, whenTaken }, bindPort);
}

async function bindPort({ host, port }: PortAddress): Promise<SharedListener> {
  const { address, family } = await lookup(host);
  const handle = bindWithoutAccepting(address, port, family);
  if (handle === undefined) {
    throw new Error(
      `Node ${process.version} cannot share a port between processes. Use a release line of Node 20 to 26.`,
    );
  }
  if (typeof handle === "number") throw bindError(handle, { host, port });
  const bound: { port?: number } = {};
  // libuv reports here, and not before, that the port is taken.
  const fault = handle.getsockname(bound);
  if (fault !== 0) {
    handle.close();
    throw bindError(fault, { host, port });
  }
  return { port: bound.port ?? port, handle: handle as unknown as Socket, close: () => handle.close() };
}

function bindError(errno: number, { host, port }: PortAddress): Error {
  const code = getSystemErrorName(errno);
  return Object.assign(new Error(`listen ${code}: ${host}:${port}`), { code, errno, syscall: "listen" });
}
