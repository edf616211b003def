// Serves public buckets on their own port. If the port is not configured, it is opened when the
// first bucket becomes public, so that an unused feature does not occupy a port.
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import { parseTrustedPeers } from "../http/server/forwarded.ts";
import { divideLimits, type PortLimits, supervisorShare } from "../http/server/limits.ts";
import { type HttpListener, listen } from "../http/server/listen.ts";
import type { OpenStreams } from "../http/server/listener-state.ts";
import type { WhenTaken } from "../http/server/shared-listener.ts";
import type { TlsSource } from "../http/tls/tls.ts";
import type { Exchange } from "../metrics/exchange.ts";
import { createPublicHandler } from "./handler.ts";
import { listPublicBuckets, type PublicBucket } from "./publications.ts";

export interface PublicOptions {
  readonly engine: Pick<Engine, "bucket" | "head" | "describe" | "get">;
  readonly documents: Documents;
  readonly host: string;
  readonly port: number;
  readonly whenTaken?: WhenTaken | undefined;
  /** Base domains for virtual-hosted-style requests. */
  readonly domains: readonly string[];
  readonly opens: "at once" | "when a bucket is public";
  readonly tls: TlsSource | undefined;
  readonly trusted: readonly string[];
  readonly limits: PortLimits;
  /** Secret that authenticates probe requests, which check that this process serves the port. */
  readonly probe: string;
  readonly streams?: OpenStreams | undefined;
  readonly log: (line: string) => void;
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Called when the port is opened after the start. */
  readonly onOpened: (port: number) => void;
  /** Formats the error for the log if the port cannot be opened after the start. */
  readonly describeError: (error: unknown) => string;
}

export interface PublicServer {
  /** The open port; undefined while it is not open. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

/** Maximum age of the cached list of public buckets. */
const cacheMilliseconds = 1000;
const retryMilliseconds = 10_000;

export async function startPublic(options: PublicOptions): Promise<PublicServer> {
  const { engine, documents, host, port, whenTaken, domains, tls, trusted, probe, streams, log } = options;
  const limits = divideLimits(options.limits, supervisorShare);
  let cache: { readonly buckets: readonly PublicBucket[]; readonly until: number } | undefined;
  async function names() {
    const now = performance.now();
    if (cache === undefined || cache.until < now)
      cache = { buckets: await listPublicBuckets(documents), until: now + cacheMilliseconds };
    return { domains, buckets: cache.buckets };
  }
  const handler = createPublicHandler({ engine, names, log, onExchange: options.onExchange });
  const peers = trusted.length === 0 ? undefined : parseTrustedPeers(trusted);
  const open = () =>
    listen(handler, { host, port, whenTaken }, { tls, trusted: peers, limits, probe, streams });

  let listening: HttpListener | undefined;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function openIfNeeded(): Promise<void> {
    if ((await listPublicBuckets(documents)).length === 0) return scheduleCheck(cacheMilliseconds);
    const opened = await open();
    listening = opened;
    if (isClosed) await opened.drain();
    else options.onOpened(opened.port!);
  }

  function scheduleCheck(milliseconds: number): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      checking = openIfNeeded().catch((error: unknown) => {
        log(options.describeError(error));
        scheduleCheck(retryMilliseconds);
      });
    }, milliseconds).unref();
  }

  const isNeeded = options.opens === "at once" || (await listPublicBuckets(documents)).length > 0;
  if (isNeeded) listening = await open();
  else scheduleCheck(cacheMilliseconds);
  return {
    get port() {
      return listening?.port;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await checking;
      await listening?.drain();
    },
  };
}
