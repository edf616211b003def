// The list of hosts that a sandboxed script may fetch: names, names below a domain, addresses.
import { isIP } from "node:net";
import { defaultPorts, parseTargetUrl, type TargetUrl } from "../../../http/outbound/target-url.ts";
import { isSameAddress } from "../../../http/public-address.ts";

interface HostRule {
  /** Name or address as in a TargetUrl. */
  readonly host: string;
  /** Whether the rule is for all names below `host` instead of `host` itself. */
  readonly isWildcard: boolean;
  /** Default: the default port of the scheme. */
  readonly port: number | undefined;
}

export interface HostRules {
  /** Whether the list names the host and port of a URL. */
  allows(url: TargetUrl): boolean;
  /** Whether the list names an address itself, so that it need not be public. */
  namesAddress(address: string, url: TargetUrl): boolean;
}

const maxRules = 1000;

/** Throws a RangeError with a message for the operator if an entry is not valid. */
export function parseHostRules(entries: readonly string[]): HostRules {
  if (entries.length > maxRules) throw new RangeError(`outbound has more than ${maxRules} entries.`);
  const rules = entries.map(parseRule);
  return {
    allows: (url) => rules.some((rule) => matchesPort(rule, url) && matchesHost(rule, url)),
    namesAddress: (address, url) =>
      rules.some((rule) => matchesPort(rule, url) && coversAddress(rule, address, url)),
  };
}

function parseRule(entry: string): HostRule {
  const isWildcard = entry.startsWith("*.");
  const text = isWildcard ? entry.slice(2) : entry;
  const isBareIpv6 = isIP(text) === 6;
  const url = parseTargetUrl(`http://${isBareIpv6 ? `[${text}]` : text}`);
  const isValid =
    url !== undefined &&
    /^[^/?*]+$/.test(text) &&
    !(isWildcard && (url.isAddress || !url.host.includes(".")));
  if (!isValid) {
    throw new RangeError(
      `outbound: "${entry}" is not a host. Use the form "api.example.com", "*.example.com", ` +
        '"api.example.com:8443" or "10.0.0.5".',
    );
  }
  const hasPort = !isBareIpv6 && /:\d+$/.test(text);
  return { host: url.host, isWildcard, port: hasPort ? url.port : undefined };
}

function matchesPort({ port }: HostRule, url: TargetUrl): boolean {
  return url.port === (port ?? defaultPorts[url.scheme]);
}

function matchesHost({ host, isWildcard }: HostRule, url: TargetUrl): boolean {
  if (isWildcard) return !url.isAddress && url.host.endsWith(`.${host}`);
  return url.host === host || (url.isAddress && isSameAddress(url.host, host));
}

/** An entry "localhost" names the loopback addresses, but only for that name. */
function coversAddress({ host, isWildcard }: HostRule, address: string, url: TargetUrl): boolean {
  if (isWildcard) return false;
  if (host !== "localhost") return isSameAddress(address, host);
  return url.host === host && (isSameAddress(address, "::1") || /^127\.[\d.]+$/.test(address));
}
