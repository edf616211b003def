// Where servers listen: the options that say so, and what is told when it cannot be.

import { parseTrustedPeers } from "../../http/server/forwarded.ts";
import type { PortLimits } from "../../http/server/limits.ts";
import type { OpenStreams } from "../../http/server/listener-state.ts";
import type { WhenTaken } from "../../http/server/shared-listener.ts";
import type { TlsSource } from "../../http/tls/tls.ts";
import type { Mode } from "../../script/context.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { systemCode } from "../framework/failures.ts";

/** What every port of a server has in common. */
export interface CommonPortOptions {
  readonly tls: TlsSource | undefined;
  /** Proxies in front: their addresses and networks. */
  readonly trusted: readonly string[];
  readonly limits: PortLimits;
  /** The secret of requests that ask whether a port is served. */
  readonly probe: string;
  /** Counts the bodies in flight in this process. */
  readonly streams: OpenStreams;
}

export const proxyOptions: Readonly<Record<string, Option>> = {
  "trust-proxy": {
    value: "ADDRESS",
    summary: "a proxy in front, or a network of them such as 10.0.0.0/8, whose word on the client is taken",
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

export function hostOption({ options }: Invocation): string {
  return options.text("host") ?? "127.0.0.1";
}

/** Without a path, so without a slash at its end. */
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

export interface PortSetting {
  readonly port: number;
  /** While developing, a default port that is taken gives way to a free one; a port that was asked for does not. */
  readonly whenTaken: WhenTaken;
}

export interface DefaultPort {
  readonly option: string;
  readonly port: number;
  readonly mode: Mode;
}

export function portOption(invocation: Invocation, { option, port, mode }: DefaultPort): PortSetting {
  const isGiven = invocation.options.text(option) !== undefined;
  return {
    port: numberOption(invocation, option, port, 65_535),
    whenTaken: mode === "dev" && !isGiven ? "choose another" : "fail",
  };
}

/** For the line that announces a port: why it is another one than usual. */
export function portTakenNote({ port }: PortSetting, opened: number | undefined): string {
  return port === 0 || opened === undefined || opened === port ? "" : ` (port ${port} is taken)`;
}

/**
 * A URL that others call a server by, as they will write it in Host: what is signed for a port that goes
 * without saying, or for capital letters, would not be what comes.
 */
export function endpointOption({ options }: Invocation, name: string): string | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  if (/^https?:\/\/[^/?#@\s]+\/?$/i.test(text) && URL.canParse(text)) return new URL(text).origin;
  throw usageError(`--${name} must be a URL without a path, such as https://s3.example.com, not "${text}".`);
}

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The option that names the port. */
  readonly option: string;
}

/** For those who can do something about it. */
export function listenError(error: unknown, { host, port, option }: ListenAddress): unknown {
  const code = systemCode(error);
  const address = `port ${port} of ${host}`;
  if (code === "EADDRINUSE") {
    const hint = `Choose another: --${option} PORT; with 0 a free one is found.`;
    return new CommandError(`Cannot listen on ${address}: it is in use already.`, { hint });
  }
  if (code === "EACCES") {
    const hint = `Ports below 1024 need a privilege: choose another, --${option} PORT`;
    return new CommandError(`Cannot listen on ${address}: permission is denied.`, { hint });
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new CommandError(`Cannot listen on ${host}: it is no address of this machine.`);
  }
  return error;
}
