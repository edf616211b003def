// Parses options for the listening addresses of servers; explains why a port cannot be opened.
import { parseTrustedPeers } from "../../http/server/forwarded.ts";
import type { PortAddress } from "../../http/server/shared-listener.ts";
import type { TlsSource } from "../../http/tls/tls.ts";
import type { Mode } from "../../script/context.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { systemCode } from "../framework/failures.ts";

export const proxyOptions: Readonly<Record<string, Option>> = {
  "trust-proxy": {
    value: "ADDRESS",
    summary: "trust X-Forwarded-* headers from this address or CIDR range, such as 10.0.0.0/8",
    repeatable: true,
  },
};

export function trustedOption({ options }: Invocation): readonly string[] {
  const texts = options.texts("trust-proxy").flatMap((text) => text.split(",").map((part) => part.trim()));
  try {
    parseTrustedPeers(texts);
    return texts;
  } catch (error) {
    throw error instanceof RangeError ? usageError(`--trust-proxy: ${error.message}`) : error;
  }
}

/** Returns the URL of a server, without a trailing slash. */
export function serverUrl(host: string, port: number, tls: TlsSource | undefined): string {
  return `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

export function numberOption(
  invocation: Invocation,
  name: string,
  defaultValue: number,
  max: number,
): number {
  const text = invocation.options.text(name);
  if (text === undefined) return defaultValue;
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= max) return number;
  throw usageError(`--${name} must be a whole number up to ${max}, not "${text}".`);
}

/** If the default port is taken, dev mode chooses another; a requested port is never replaced. */
export function portOption(
  invocation: Invocation,
  { option, port, mode }: { option: string; port: number; mode: Mode },
): PortAddress {
  const isGiven = invocation.options.text(option) !== undefined;
  return {
    host: invocation.options.text("host") ?? "127.0.0.1",
    port: numberOption(invocation, option, port, 65_535),
    whenTaken: mode === "dev" && !isGiven ? "choose another" : "fail",
  };
}

/** Returns a note for the announcement if another port was opened than `port`. */
export function portTakenNote({ port }: Pick<PortAddress, "port">, opened: number | undefined): string {
  return port === 0 || opened === undefined || opened === port ? "" : ` (port ${port} is taken)`;
}

/** Normalizes the URL to the form that clients send in Host, because signatures include Host. */
export function endpointOption({ options }: Invocation, name: string): string | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  if (/^https?:\/\/[^/?#@\s]+\/?$/i.test(text) && URL.canParse(text)) return new URL(text).origin;
  throw usageError(`--${name} must be a URL without a path, such as https://s3.example.com, not "${text}".`);
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The option that sets the port. */
  readonly option: string;
}

/** Converts common errors of listen() to messages with advice. */
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
