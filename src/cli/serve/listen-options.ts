// Options for the listening addresses of servers.
import { parseTrustedPeers } from "../../http/server/forwarded.ts";
import type { WhenTaken } from "../../http/server/shared-listener.ts";
import type { TlsSource } from "../../http/tls/tls.ts";
import type { Mode } from "../../script/context.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";

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

/** Without a trailing slash. */
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
  readonly host: string;
  readonly port: number;
  /** In dev mode another port replaces a taken default port, but never a requested one. */
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
    host: invocation.options.text("host") ?? "127.0.0.1",
    port: numberOption(invocation, option, port, 65_535),
    whenTaken: mode === "dev" && !isGiven ? "choose another" : "fail",
  };
}

/** Explains in the announcement why the port differs from the default. */
export function portTakenNote({ port }: Pick<PortSetting, "port">, opened: number | undefined): string {
  return port === 0 || opened === undefined || opened === port ? "" : ` (port ${port} is taken)`;
}
