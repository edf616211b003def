// Sends messages to webhooks, whose URLs are chosen by administrators of buckets: only to public
// addresses and to those that the operator permits, without following redirects. The address that
// was checked is the one that is connected to.
import { isIP } from "node:net";
import { blockedPorts } from "../http/outbound/blocked-ports.ts";
import { createDnsLookup, createListedLookup, type Lookup } from "../http/outbound/lookup.ts";
import { findAddresses, isOutside, listOwnAddresses } from "../http/outbound/outside-addresses.ts";
import { parseTargetUrl, type TargetUrl } from "../http/outbound/target-url.ts";
import { describeFault } from "../http/pinned-error.ts";
import { createPinnedClient, type PinnedResponse } from "../http/pinned-request.ts";
import { isSameAddress } from "../http/public-address.ts";
import { parseTrustedPeers } from "../http/server/forwarded.ts";

export interface WebhookClient {
  /** Resolves when the webhook responded with a 2xx status. Rejects with a message for the operator. */
  post(url: string, message: WebhookMessage): Promise<void>;
  /** Why requests to a valid URL are refused, as far as it shows without a lookup of its name. */
  refusal(url: string): string | undefined;
}

export interface WebhookMessage {
  /** Alternating names and values, without Host. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Registers a function that aborts the request. */
  onAbort?(abort: () => void): void;
}

export interface WebhookClientOptions {
  /** Hosts, addresses and networks that need not be public: `--webhook-allow`. */
  readonly allow: readonly string[] | "all";
  /** Default: the DNS servers of the system, for listed names also its hosts file. */
  readonly lookup?: Lookup | undefined;
  /** Addresses of this machine, which are refused although they may be public. */
  readonly ownAddresses?: (() => readonly string[]) | undefined;
  /** Time until the head of the response has arrived; default: 30 seconds. */
  readonly milliseconds?: number | undefined;
}

const connectMilliseconds = 10_000;
const responseMilliseconds = 30_000;
/** A body within these limits is read to its end, so that the connection can be used again. */
const drained = { bytes: 16_384, milliseconds: 1000 } as const;

/** Throws a RangeError if an entry of `allow` is not valid. */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  const { allow, ownAddresses = listOwnAddresses, milliseconds = responseMilliseconds } = options;
  const entries = allow === "all" ? [] : allow.map(parseAllowed);
  const dnsLookup = options.lookup ?? createDnsLookup();
  const listedLookup = options.lookup ?? createListedLookup(dnsLookup);
  // The idle limit is a second guard: the time for the whole exchange ends every request before.
  const client = createPinnedClient({ connectMilliseconds, idleMilliseconds: milliseconds });

  function isPermitted(address: string, url: TargetUrl): boolean {
    if (allow === "all" || entries.some((entry) => entry.permits(address, url))) return true;
    return !blockedPorts.has(url.port) && isOutside(address, ownAddresses);
  }

  function explain(url: TargetUrl, found: readonly string[]): string {
    const [address] = found;
    if (address === undefined) return "host name not found";
    if (isOutside(address, ownAddresses)) return `port ${url.port} belongs to another protocol`;
    const subject = url.isAddress ? address : `its host is at ${address}, which`;
    return `${subject} is not public, or is this server's own: to permit it, start the server with --webhook-allow ${address}`;
  }

  async function findTarget(url: TargetUrl): Promise<readonly string[]> {
    const isListed = allow === "all" || entries.some((entry) => entry.names(url));
    const found = await findAddresses(url, isListed ? listedLookup : dnsLookup);
    const addresses = found.filter((address) => isPermitted(address, url));
    if (addresses.length === 0) throw new Error(explain(url, found));
    return addresses;
  }

  return {
    async post(text, { headers, body, onAbort }) {
      const url = parseTargetUrl(text);
      if (url === undefined) throw new Error("its URL is not valid");
      const { host, isAddress, port, authority, path } = url;
      const tls = url.scheme === "https" ? { host, isAddress } : undefined;
      const deadline = createDeadline(milliseconds);
      onAbort?.(deadline.abort);
      try {
        const addresses = await findTarget(url);
        const response = await client.send(
          { addresses, port, tls },
          {
            ...{ method: "POST", path, headers: ["host", authority, ...headers] },
            async *body() {
              yield body;
            },
            onDisconnect: deadline.onEnd,
          },
        );
        const { status } = response;
        await discardBody(response);
        if (status >= 200 && status < 300) return;
        const advice = status >= 300 && status < 400 ? "; redirects are not followed" : "";
        throw new Error(`the webhook responded with status ${status}${advice}`);
      } catch (error) {
        throw deadline.hasPassed() ? new Error("no response arrived in time") : describe(error);
      } finally {
        deadline.clear();
      }
    },
    refusal(text) {
      const url = parseTargetUrl(text);
      if (url === undefined) return undefined;
      const known = url.isAddress ? [url.host] : isLocalName(url) ? ["127.0.0.1"] : undefined;
      if (known === undefined || known.some((address) => isPermitted(address, url))) return undefined;
      return explain(url, known);
    },
  };
}

function isLocalName({ host }: TargetUrl): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

/** Ends an exchange after a time, however its bytes arrive. */
function createDeadline(milliseconds: number) {
  let isPassed = false;
  let isEnded = false;
  let listener = () => {};
  const abort = () => {
    isEnded = true;
    listener();
  };
  const timer = setTimeout(() => {
    isPassed = true;
    abort();
  }, milliseconds);
  return {
    abort,
    hasPassed: () => isPassed,
    clear: () => clearTimeout(timer),
    onEnd(given: () => void) {
      listener = given;
      // The time may have passed during the lookup.
      if (isEnded) given();
    },
  };
}

/** Reads the body, which is not used, up to a limit: a webhook could send it without end. */
async function discardBody({ body, socket }: PinnedResponse): Promise<void> {
  socket?.destroy();
  const timer = setTimeout(() => void body.cancel(undefined), drained.milliseconds);
  let bytes = 0;
  try {
    for await (const chunk of body.chunks()) {
      bytes += chunk.length;
      if (bytes > drained.bytes) break;
    }
  } catch {
    // The status has arrived, which is all that counts.
  }
  clearTimeout(timer);
}

function describe(error: unknown): Error {
  return error instanceof Error && !("code" in error) ? error : describeFault(error);
}

interface Allowed {
  /** Whether requests for the URL may go to the address, although it is not public. */
  permits(address: string, url: TargetUrl): boolean;
  /** Whether the entry names the host of the URL, so that its name may be in the hosts file. */
  names(url: TargetUrl): boolean;
}

/** Parses 10.0.0.5, fd00::/8, hooks.internal, *.internal.example or localhost:8080. */
function parseAllowed(entry: string): Allowed {
  if (isIP(entry) !== 0 || /^[\d.a-f:]+\/\d+$/i.test(entry)) {
    const network = parseTrustedPeers([entry]);
    const permits = (address: string) => network.has(address) || isSameAddress(address, entry);
    return { permits, names: () => false };
  }
  const isWildcard = entry.startsWith("*.");
  const text = isWildcard ? entry.slice(2) : entry;
  const parsed = parseTargetUrl(`http://${text}`);
  if (parsed === undefined || !/^[^/?*]+$/.test(text) || (isWildcard && parsed.isAddress)) {
    throw new RangeError(
      `"${entry}" is not a host, an address or a network. Use the form 10.0.0.0/8, 10.0.0.5:8080, ` +
        "hooks.internal, *.internal.example or localhost:3000.",
    );
  }
  const port = /:\d+$/.test(text) ? parsed.port : undefined;
  const names = ({ host, isAddress, port: given }: TargetUrl) =>
    (port === undefined || port === given) &&
    (isWildcard ? !isAddress && host.endsWith(`.${parsed.host}`) : host === parsed.host);
  return {
    names,
    permits(address, url) {
      if (!parsed.isAddress) return names(url);
      return isSameAddress(address, parsed.host) && (port === undefined || port === url.port);
    },
  };
}
