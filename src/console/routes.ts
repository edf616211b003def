// All routes of the console that need a session. Tests derive every route × every role from here.
import type { AuditLog } from "../audit/audit-log.ts";
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import type { S3Access } from "../http/sigv4.ts";
import { accountRoutes } from "./api/administration/accounts.ts";
import { auditRoutes } from "./api/administration/audit.ts";
import { createAuditSearch } from "./api/administration/audit-search.ts";
import { type ConsoleKeys, keyRoutes } from "./api/administration/keys.ts";
import { type ConsoleMetrics, metricsRoutes } from "./api/administration/metrics.ts";
import { type ConsoleScripts, scriptRoutes } from "./api/administration/scripts.ts";
import { sessionListRoutes } from "./api/administration/sessions.ts";
import { type ConsoleStatus, statusRoutes } from "./api/administration/status.ts";
import { tokenRoutes } from "./api/administration/tokens.ts";
import { userRoutes } from "./api/administration/users.ts";
import { archiveRoutes } from "./api/bucket/archives.ts";
import type { ConsoleBuckets } from "./api/bucket/console-buckets.ts";
import { copyRoutes } from "./api/bucket/copies.ts";
import { detailsRoutes, publicUrl } from "./api/bucket/details.ts";
import { emptyingRoutes } from "./api/bucket/emptying.ts";
import { notificationRoutes } from "./api/bucket/notifications.ts";
import { objectLockRoutes } from "./api/bucket/object-lock.ts";
import { searchRoutes } from "./api/bucket/search.ts";
import { shareRoutes } from "./api/bucket/shares.ts";
import { bucketRoutes } from "./api/buckets.ts";
import { contentRoutes } from "./api/content.ts";
import { historyRoutes } from "./api/history.ts";
import { singleObjectRoutes } from "./api/object.ts";
import { objectRoutes } from "./api/objects.ts";
import { createLinks } from "./api/presigned-links.ts";
import { ruleRoutes } from "./api/rules.ts";
import { sessionRoutes } from "./api/session.ts";
import { settingRoutes } from "./api/settings.ts";
import { uploadRoutes } from "./api/uploads.ts";
import { versionRoutes } from "./api/versions.ts";
import type { Providers } from "./auth/providers.ts";
import type { Sessions } from "./auth/sessions.ts";
import { createShareLinks } from "./auth/share-links.ts";
import type { ConsoleTokens } from "./auth/tokens.ts";
import type { ConsoleUsers } from "./auth/users.ts";
import type { Route } from "./route.ts";

export interface RoutesOptions {
  readonly engine: Engine;
  readonly documents: Documents;
  readonly sessions: Sessions;
  readonly buckets: ConsoleBuckets;
  readonly keys: ConsoleKeys;
  readonly metrics: ConsoleMetrics;
  readonly scripts: ConsoleScripts;
  readonly status: ConsoleStatus;
  readonly users: ConsoleUsers;
  readonly tokens: ConsoleTokens;
  readonly providers: Providers["list"];
  readonly audit: Pick<AuditLog, "read" | "verify">;
  readonly s3: S3Access;
  /** Public URL of the console, if it differs from the listening address. */
  readonly url: string | undefined;
  readonly now: () => number;
}

export function createRoutes(options: RoutesOptions): readonly Route[] {
  const { engine, documents, sessions, buckets, keys, metrics, scripts, s3, url, now } = options;
  const { users, tokens, audit } = options;
  const links = createShareLinks(documents, now);
  return [
    ...sessionRoutes(sessions),
    ...sessionListRoutes(sessions),
    ...bucketRoutes(engine, keys, buckets),
    ...emptyingRoutes(engine, now),
    ...detailsRoutes({ engine, buckets, keys, users, tokens, links, url }),
    ...objectRoutes(engine, now),
    ...searchRoutes(engine, now),
    ...copyRoutes(engine, now),
    ...archiveRoutes(engine, documents, now),
    ...shareRoutes({ engine, links, url, now }),
    ...historyRoutes(engine),
    ...versionRoutes(engine, now),
    ...objectLockRoutes(engine),
    ...singleObjectRoutes(
      engine,
      createLinks(s3, now),
      (bucket, request) => publicUrl(bucket, request, { buckets, url }),
      now,
    ),
    ...contentRoutes(engine),
    ...uploadRoutes(engine),
    ...keyRoutes(keys),
    ...accountRoutes(engine),
    ...metricsRoutes(metrics, engine),
    ...ruleRoutes(engine),
    ...settingRoutes(engine, buckets),
    ...notificationRoutes(buckets),
    ...scriptRoutes(scripts),
    ...userRoutes(users, tokens),
    ...tokenRoutes(users, tokens, now),
    ...auditRoutes(createAuditSearch(audit), audit),
    ...statusRoutes(options.status, options.providers),
  ];
}
