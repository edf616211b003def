// The console: a page in the browser and the API behind it, on a port of their own. What it shows of other rooms is
// given to it by whoever starts it.
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import { trustedPeers } from "../http/forwarded.ts";
import { type PortLimits, shareOf, supervisorShare } from "../http/limits.ts";
import { listen } from "../http/listen.ts";
import type { WhenTaken } from "../http/shared-listener.ts";
import type { TlsSource } from "../http/tls.ts";
import type { Exchange } from "../metrics/exchange.ts";
import type { NoteAct } from "../model/act.ts";
import { pagePolicy } from "./answer.ts";
import { createAttempts } from "./attempts.ts";
import { bucketRoutes } from "./buckets.ts";
import { contentRoutes } from "./content.ts";
import { createHandler } from "./handler.ts";
import { type ConsoleKeys, keyRoutes } from "./keys.ts";
import { createLinks, type S3Access } from "./links.ts";
import { type ConsoleMetrics, metricsRoutes } from "./metrics.ts";
import { createMonitoring, type Monitored } from "./monitoring.ts";
import { singleObjectRoutes } from "./object.ts";
import { objectRoutes } from "./objects.ts";
import { loadPageFiles } from "./page-files.ts";
import { ruleRoutes } from "./rules.ts";
import { type ConsoleScripts, scriptRoutes } from "./scripts.ts";
import { sessionRoutes, signInRoute } from "./session-routes.ts";
import { createSessions } from "./sessions.ts";
import { createTokens } from "./tokens.ts";
import { uploadRoutes } from "./uploads.ts";

export interface ConsoleOptions {
  readonly engine: Engine;
  readonly documents: Documents;
  readonly keys: ConsoleKeys;
  readonly scripts: ConsoleScripts;
  readonly host: string;
  readonly port: number;
  readonly whenTaken?: WhenTaken | undefined;
  /** What browsers call it, where that is another address than its own. */
  readonly url: string | undefined;
  /** Where the files of the page are. */
  readonly pageFolder: string;
  /** The hash of a token that only this server knows. */
  readonly ownToken: string | undefined;
  readonly s3: S3Access;
  readonly log: (line: string) => void;
  readonly monitored: Monitored;
  readonly metrics: ConsoleMetrics;
  /** Notes administrative acts. */
  readonly noteAct: NoteAct;
  readonly onExchange: ((exchange: Exchange) => void) | undefined;
  /** With it the port speaks HTTPS. */
  readonly tls: TlsSource | undefined;
  /** Proxies in front: their addresses and networks. */
  readonly trusted: readonly string[];
  readonly limits: PortLimits;
  /** The secret of requests that ask whether the port is served. */
  readonly probe: string;
}

export interface ConsoleServer {
  readonly port: number;
  /** Lets requests under way finish. */
  close(): Promise<void>;
}

export async function startConsole(options: ConsoleOptions): Promise<ConsoleServer> {
  const { engine, documents, host, port, url, ownToken, log, tls, trusted, limits, probe } = options;
  const now = Date.now;
  const sessions = createSessions({ documents, tokens: createTokens(documents, now), ownToken, now });
  const handler = createHandler({
    files: loadPageFiles(options.pageFolder),
    sessions,
    routes: [
      ...sessionRoutes(sessions),
      ...bucketRoutes(engine, options.keys),
      ...objectRoutes(engine),
      ...singleObjectRoutes(engine, createLinks(options.s3, now)),
      ...contentRoutes(engine),
      ...uploadRoutes(engine),
      ...keyRoutes(options.keys),
      ...metricsRoutes(options.metrics),
      ...ruleRoutes(engine),
      ...scriptRoutes(options.scripts),
    ],
    openRoutes: [signInRoute(sessions, createAttempts(now))],
    policy: pagePolicy(options.s3.endpoint),
    hostNames: [host, ...(url === undefined ? [] : [new URL(url).host])],
    log,
    monitoring: createMonitoring(options.monitored, sessions.isToken),
    onExchange: options.onExchange,
    noteAct: options.noteAct,
    now,
  });
  const listening = await listen(
    handler,
    { host, port, whenTaken: options.whenTaken },
    {
      ...{ tls, probe, limits: shareOf(consoleLimits(limits), supervisorShare) },
      trusted: trusted.length === 0 ? undefined : trustedPeers(trusted),
    },
  );
  return { port: listening.port!, close: () => listening.drain() };
}

/** People need few connections, and the process that serves them has more to do. */
const maxConnections = 1024;

function consoleLimits(limits: PortLimits): PortLimits {
  return { ...limits, connections: Math.min(limits.connections, maxConnections) };
}
