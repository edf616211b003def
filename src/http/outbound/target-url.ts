// Parses the target of a request in proxy form: http://host/path or https://host/path.
import { isIP } from "node:net";
import { URL } from "node:url";

export interface TargetUrl {
  readonly scheme: "http" | "https";
  /** Name in lower case and Punycode without a final dot, or an address without brackets. */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
  /** The Host header: host, and port if it is not the default port of the scheme. */
  readonly authority: string;
  /** Path and query exactly as sent. */
  readonly path: string;
}

export const defaultPorts = { http: 80, https: 443 } as const;

const maxNameLength = 253;

/** Returns undefined if the target is not a URL that can be fetched. */
export function parseTargetUrl(target: string): TargetUrl | undefined {
  const match = /^(https?):\/\/([^/?#@\\]+)([/?][\x21\x22\x24-\x7e]*)?$/i.exec(target);
  if (match === null) return undefined;
  const [, schemeText = "", authorityText = "", pathText = "/"] = match;
  const scheme = schemeText.toLowerCase() as TargetUrl["scheme"];
  // The rules of browsers turn odd forms of IPv4 addresses (0x7f.1, 2130706433) into plain ones.
  const url = parseUrl(`${scheme}://${authorityText}/`);
  if (url === undefined || url.username !== "" || url.password !== "" || url.pathname !== "/")
    return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (host === "" || host.length > maxNameLength) return undefined;
  const port = url.port === "" ? defaultPorts[scheme] : Number(url.port);
  const isAddress = isIP(host) !== 0;
  return {
    ...{ scheme, host, isAddress, port, authority: formatAuthority(scheme, host, port) },
    path: pathText.startsWith("?") ? `/${pathText}` : pathText,
  };
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function formatAuthority(scheme: TargetUrl["scheme"], host: string, port: number): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return port === defaultPorts[scheme] ? name : `${name}:${port}`;
}
