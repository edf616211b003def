// Starts the console: the page and its API, on their own port. The caller provides the data of
// other modules that the console shows.
import { createAuditAggregator } from "../audit/aggregate.ts";
import type { AuditLog, RecordAudit } from "../audit/audit-log.ts";
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import { listenInSupervisor, type PortOptions } from "../http/port-options.ts";
import type { PortAddress } from "../http/server/shared-listener.ts";
import type { S3Access } from "../http/sigv4.ts";
import type { Exchange } from "../metrics/exchange.ts";
import type { ConsoleKeys } from "./api/administration/keys.ts";
import type { ConsoleMetrics } from "./api/administration/metrics.ts";
import type { ConsoleScripts } from "./api/administration/scripts.ts";
import type { ConsoleStatus } from "./api/administration/status.ts";
import type { ConsoleBuckets } from "./api/bucket/console-buckets.ts";
import { createSharedDownloads } from "./api/bucket/shares.ts";
import { maxSignIns, oidcRoutes } from "./api/oidc.ts";
import { signInRoute } from "./api/session.ts";
import { createProviders, type ProviderOptions } from "./auth/providers.ts";
import { allows } from "./auth/roles.ts";
import { createSessions } from "./auth/sessions.ts";
import { createShareLinks } from "./auth/share-links.ts";
import { createAttempts } from "./auth/sign-in-throttle.ts";
import { createTokens } from "./auth/tokens.ts";
import { createUsers } from "./auth/users.ts";
import { createHandler } from "./handler.ts";
import { createMonitoring, type MonitoringSources } from "./monitoring.ts";
import { loadPageFiles } from "./page-files.ts";
import { pagePolicy } from "./response.ts";
import { createRoutes } from "./routes.ts";

export interface ConsoleOptions extends PortAddress, PortOptions {
  readonly engine: Engine;
  readonly documents: Documents;
  readonly keys: ConsoleKeys;
  readonly buckets: ConsoleBuckets;
  readonly scripts: ConsoleScripts;
  readonly status: ConsoleStatus;
  /** The audit log, which administrators read and verify. */
  readonly audit: Pick<AuditLog, "read" | "verify">;
  /** Public URL, if it differs from the listening address. */
  readonly url: string | undefined;
  /** Folder with the files of the page. */
  readonly pageFolder: string;
  /** Hash of a sign-in token that only this server accepts. */
  readonly ownToken: string | undefined;
  /** OpenID providers with which users can sign in. */
  readonly providers: readonly ProviderOptions[];
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
  const { documents, host, url, ownToken, log, limits } = options;
  const now = Date.now;
  const providers = createProviders(options.providers, documents, now);
  const tokens = createTokens(documents, now);
  const users = createUsers(documents, now);
  const sessions = createSessions({
    ...{ documents, ownToken, now, groupPermissions: providers.groupPermissions, tokens, users },
  });
  const denials = createAuditAggregator({ record: options.recordAudit });
  const handler = createHandler({
    files: loadPageFiles(options.pageFolder),
    sessions,
    routes: createRoutes({ ...options, sessions, users, tokens, providers: providers.list, now }),
    openRoutes: [
      signInRoute(sessions, createAttempts(now)),
      ...oidcRoutes({ providers, sessions, attempts: createAttempts(now, maxSignIns), url, log }),
    ],
    policy: pagePolicy(options.s3.endpoint),
    hostNames: [host, ...(url === undefined ? [] : [new URL(url).host])],
    log,
    monitoring: createMonitoring(options.monitoring, async (token) =>
      allows((await sessions.findPermissions(token)) ?? {}, "view"),
    ),
    shared: createSharedDownloads(options.engine, createShareLinks(documents, now)),
    onExchange: options.onExchange,
    recordAudit: options.recordAudit,
    denials,
    now,
  });
  const connections = Math.min(limits.connections, maxConnections);
  const listening = await listenInSupervisor(handler, options, {
    ...options,
    limits: { ...limits, connections },
  });
  return {
    port: listening.port!,
    async close() {
      await listening.drain();
      await denials.flush();
    },
  };
}

/** The limit is low, because the console has few users and this process also runs other work. */
const maxConnections = 1024;
