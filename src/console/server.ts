// Starts the console: the page and its API, on their own port. The caller provides the data of
// other modules that the console shows.
import type { RecordAudit } from "../audit/audit-log.ts";
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import { listenInSupervisor, type PortOptions } from "../http/port-options.ts";
import type { PortAddress } from "../http/server/shared-listener.ts";
import type { S3Access } from "../http/sigv4.ts";
import type { Exchange } from "../metrics/exchange.ts";
import { bucketRoutes } from "./api/buckets.ts";
import { contentRoutes } from "./api/content.ts";
import { historyRoutes } from "./api/history.ts";
import { type ConsoleKeys, keyRoutes } from "./api/keys.ts";
import { type ConsoleMetrics, metricsRoutes } from "./api/metrics.ts";
import { singleObjectRoutes } from "./api/object.ts";
import { objectRoutes } from "./api/objects.ts";
import { createLinks } from "./api/presigned-links.ts";
import { ruleRoutes } from "./api/rules.ts";
import { type ConsoleScripts, scriptRoutes } from "./api/scripts.ts";
import { sessionRoutes, signInRoute } from "./api/session.ts";
import { settingRoutes } from "./api/settings.ts";
import { uploadRoutes } from "./api/uploads.ts";
import { versionRoutes } from "./api/versions.ts";
import { createSessions } from "./auth/sessions.ts";
import { createAttempts } from "./auth/sign-in-throttle.ts";
import { createTokens } from "./auth/tokens.ts";
import { createHandler } from "./handler.ts";
import { createMonitoring, type MonitoringSources } from "./monitoring.ts";
import { loadPageFiles } from "./page-files.ts";
import { pagePolicy } from "./response.ts";

export interface ConsoleOptions extends PortAddress, PortOptions {
  readonly engine: Engine;
  readonly documents: Documents;
  readonly keys: ConsoleKeys;
  readonly scripts: ConsoleScripts;
  /** Public URL, if it differs from the listening address. */
  readonly url: string | undefined;
  /** Folder with the files of the page. */
  readonly pageFolder: string;
  /** Hash of a sign-in token that only this server accepts. */
  readonly ownToken: string | undefined;
  readonly s3: S3Access;
  readonly log: (line: string) => void;
  readonly monitoring: MonitoringSources;
  readonly metrics: ConsoleMetrics;
  /** Records administrative actions in the audit log. */
  readonly recordAudit: RecordAudit;
  readonly onExchange: ((exchange: Exchange) => void) | undefined;
}

export interface ConsoleServer {
  readonly port: number;
  /** Waits for requests in flight. */
  close(): Promise<void>;
}

export async function startConsole(options: ConsoleOptions): Promise<ConsoleServer> {
  const { engine, documents, host, url, ownToken, log, limits } = options;
  const now = Date.now;
  const sessions = createSessions({ documents, tokens: createTokens(documents, now), ownToken, now });
  const handler = createHandler({
    files: loadPageFiles(options.pageFolder),
    sessions,
    routes: [
      ...sessionRoutes(sessions),
      ...bucketRoutes(engine, options.keys),
      ...objectRoutes(engine, now),
      ...historyRoutes(engine),
      ...versionRoutes(engine, now),
      ...singleObjectRoutes(engine, createLinks(options.s3, now), now),
      ...contentRoutes(engine),
      ...uploadRoutes(engine),
      ...keyRoutes(options.keys),
      ...metricsRoutes(options.metrics),
      ...ruleRoutes(engine),
      ...settingRoutes(engine),
      ...scriptRoutes(options.scripts),
    ],
    openRoutes: [signInRoute(sessions, createAttempts(now))],
    policy: pagePolicy(options.s3.endpoint),
    hostNames: [host, ...(url === undefined ? [] : [new URL(url).host])],
    log,
    monitoring: createMonitoring(options.monitoring, sessions.isToken),
    onExchange: options.onExchange,
    recordAudit: options.recordAudit,
    now,
  });
  const connections = Math.min(limits.connections, maxConnections);
  const listening = await listenInSupervisor(handler, options, {
    ...options,
    limits: { ...limits, connections },
  });
  return { port: listening.port!, close: () => listening.drain() };
}

/** The limit is low, because the console has few users and this process also runs other work. */
const maxConnections = 1024;
