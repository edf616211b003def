// Parses a database URL. Unlike the URL class, it accepts several hosts:
//   postgres://user:password@host1:5432,host2,host3/database?sslmode=verify-full
import { readFileSync } from "node:fs";
import { URLSearchParams } from "node:url";
import { isLoopback } from "../../http/loopback.ts";

export interface DatabaseAddress {
  readonly hosts: readonly Host[];
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  /** TLS settings from the URL. Default: TLS is used except for a loopback address. */
  readonly tls: Tls | "off" | undefined;
}

export interface Host {
  readonly host: string;
  readonly port: number;
}

export interface Tls {
  /** Whether the certificate must be signed by a trusted authority. */
  readonly rejectUnauthorized: boolean;
  /** Whether the certificate must also match the host name. */
  readonly checksName: boolean;
  readonly ca?: string;
}

const defaultPort = 5432;
const urlPattern = /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/;

/** Throws a TypeError that states the fault. The message never contains the password. */
export function parsePostgresUrl(url: string): DatabaseAddress {
  const [, user, password, hosts, database, query] = urlPattern.exec(url) ?? [];
  if (hosts === undefined || hosts === "") {
    throw new TypeError('The database URL must be like "postgres://user:password@host/database".');
  }
  if (user === undefined || user === "") throw new TypeError("The database URL has no user.");
  const name = decodeComponent(user, "user");
  return {
    hosts: hosts.split(",").map(parseHost),
    user: name,
    password: password === undefined ? undefined : decodeComponent(password, "password"),
    database: database === undefined || database === "" ? name : decodeComponent(database, "database"),
    tls: parseOptions(new URLSearchParams(query ?? "")),
  };
}

/** Encrypts without verifying the certificate, which would need a certificate authority. */
const encrypted: Tls = { rejectUnauthorized: false, checksName: false };

/** Returns the TLS settings for a connection to this host. Undefined: do not use TLS. */
export function resolveTls({ tls }: DatabaseAddress, host: string): Tls | undefined {
  if (tls === "off") return undefined;
  return tls ?? (isLoopback(host) ? undefined : encrypted);
}

/** Returns the address without user and password, for messages. */
export function formatAddress({ hosts, database }: DatabaseAddress): string {
  return `"${database}" at ${hosts.map(({ host, port }) => `${host}:${port}`).join(", ")}`;
}

function parseHost(text: string): Host {
  const [, six, four, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if ((six ?? four) === undefined || port < 1 || port > 65_535) {
    throw new TypeError(`The database URL has an invalid host: "${text}".`);
  }
  return { host: (six ?? four)!, port };
}

function parseOptions(options: URLSearchParams): DatabaseAddress["tls"] {
  for (const name of options.keys()) {
    if (name !== "sslmode" && name !== "sslrootcert") {
      throw new TypeError(`The database URL has an unknown option: "${name}".`);
    }
  }
  const mode = options.get("sslmode");
  const file = options.get("sslrootcert");
  if (mode === "disable") return "off";
  if (mode === null && file === null) return undefined;
  const ca = file === null ? {} : { ca: readFileSync(file, "utf8") };
  // As in libpq: if a certificate authority is given, the certificate is verified.
  if (mode === null || mode === "require") return { ...encrypted, rejectUnauthorized: file !== null, ...ca };
  if (mode === "verify-ca") return { rejectUnauthorized: true, checksName: false, ...ca };
  if (mode === "verify-full") return { rejectUnauthorized: true, checksName: true, ...ca };
  throw new TypeError(`sslmode must be disable, require, verify-ca or verify-full, not "${mode}".`);
}

function decodeComponent(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError(`The ${what} in the database URL is not validly percent-encoded.`);
  }
}
