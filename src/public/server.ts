// Serves public buckets on their own port. A port that is not configured is opened when the first
// bucket becomes public, so that an unused feature does not occupy a port.
import type { Documents } from "../engine/records.ts";
import { listenInSupervisor, type PortOptions } from "../http/port-options.ts";
import type { HttpListener } from "../http/server/listen.ts";
import type { PortAddress } from "../http/server/shared-listener.ts";
import type { ServerNames } from "../model/settings/publication.ts";
import { createPublicHandler, type HandlerOptions } from "./handler.ts";
import { findDomain, listPublicBuckets } from "./publications.ts";

export interface PublicOptions extends PortAddress, PortOptions, Omit<HandlerOptions, "names"> {
  readonly documents: Documents;
  readonly serverNames: ServerNames;
  readonly opens: "at once" | "when a bucket is public";
  /** Called if the port is opened after start. */
  readonly onOpened: (port: number) => void;
  /** Formats the error for the log if the port cannot be opened after the start. */
  readonly describeError: (error: unknown) => string;
}

export interface PublicServer {
  /** The open port; undefined while it is not open. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

const cacheMilliseconds = 1000;
export const maxCachedDomains = 1000;
const retryMilliseconds = 10_000;

export async function startPublic(options: PublicOptions): Promise<PublicServer> {
  const { engine, documents, serverNames: server, log } = options;
  const names = { server, findDomain: createDomainCache(documents) };
  const handler = createPublicHandler({ engine, names, log, onExchange: options.onExchange });
  const open = () => listenInSupervisor(handler, options, options);

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

/** Clients choose the names: a name costs the reads of two documents, however many are claimed. */
export function createDomainCache(documents: Documents): (name: string) => Promise<string | undefined> {
  const cache = new Map<string, { readonly bucket: Promise<string | undefined>; readonly until: number }>();
  return (name) => {
    const now = performance.now();
    const cached = cache.get(name);
    if (cached !== undefined && cached.until > now) return cached.bucket;
    if (cache.size >= maxCachedDomains) cache.clear();
    const bucket = findDomain(documents, name);
    cache.set(name, { bucket, until: now + cacheMilliseconds });
    // A failed read is repeated by the next request.
    bucket.catch(() => cache.delete(name));
    return bucket;
  };
}
