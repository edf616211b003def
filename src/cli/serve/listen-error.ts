// Messages for errors when a port cannot be opened.
import { CommandError } from "../framework/command-error.ts";
import { systemCode } from "../framework/failures.ts";

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The option that sets the port. */
  readonly option: string;
}

/** Replaces common errors of listen() by messages that say what to do. */
export function listenError(error: unknown, { host, port, option }: ListenAddress): unknown {
  const code = systemCode(error);
  const address = `port ${port} of ${host}`;
  if (code === "EADDRINUSE") {
    const hint = `Choose another port: --${option} PORT, or 0 for any free port`;
    return new CommandError(`Cannot listen on ${address}: it is already in use.`, { hint });
  }
  if (code === "EACCES") {
    const hint = `Ports below 1024 need extra privileges; choose another: --${option} PORT`;
    return new CommandError(`Cannot listen on ${address}: permission is denied.`, { hint });
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new CommandError(`Cannot listen on ${host}: it is not an address of this machine.`);
  }
  return error;
}
