// All routes of the console that need a session. Tests derive every route × every role from here.
import type { Engine } from "../engine/engine.ts";
import type { S3Access } from "../http/sigv4.ts";
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
import { sessionRoutes } from "./api/session.ts";
import { sessionListRoutes } from "./api/sessions.ts";
import { settingRoutes } from "./api/settings.ts";
import { uploadRoutes } from "./api/uploads.ts";
import { versionRoutes } from "./api/versions.ts";
import type { Sessions } from "./auth/sessions.ts";
import type { Route } from "./route.ts";

export interface RoutesOptions {
  readonly engine: Engine;
  readonly sessions: Sessions;
  readonly keys: ConsoleKeys;
  readonly metrics: ConsoleMetrics;
  readonly scripts: ConsoleScripts;
  readonly s3: S3Access;
  readonly now: () => number;
}

export function createRoutes(options: RoutesOptions): readonly Route[] {
  const { engine, sessions, keys, metrics, scripts, s3, now } = options;
  return [
    ...sessionRoutes(sessions),
    ...sessionListRoutes(sessions),
    ...bucketRoutes(engine, keys),
    ...objectRoutes(engine, now),
    ...historyRoutes(engine),
    ...versionRoutes(engine, now),
    ...singleObjectRoutes(engine, createLinks(s3, now), now),
    ...contentRoutes(engine),
    ...uploadRoutes(engine),
    ...keyRoutes(keys),
    ...metricsRoutes(metrics),
    ...ruleRoutes(engine),
    ...settingRoutes(engine),
    ...scriptRoutes(scripts),
  ];
}
