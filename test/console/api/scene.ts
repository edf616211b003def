// The console's API on a store in memory, with a signed-in client and the recorded audit entries.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { AuditEntry, AuditLog } from "../../../src/audit/audit-log.ts";
import { consoleBuckets } from "../../../src/cli/serve/console/buckets.ts";
import type { Data } from "../../../src/cli/store/open-store.ts";
import type { ConsoleKeys } from "../../../src/console/api/administration/keys.ts";
import type { ConsoleScripts } from "../../../src/console/api/administration/scripts.ts";
import type { ConsoleStatus } from "../../../src/console/api/administration/status.ts";
import { createSharedDownloads } from "../../../src/console/api/bucket/shares.ts";
import { maxSignIns, oidcRoutes } from "../../../src/console/api/oidc.ts";
import { signInRoute } from "../../../src/console/api/session.ts";
import { createProviders, type ProviderOptions } from "../../../src/console/auth/providers.ts";
import type { Permissions } from "../../../src/console/auth/roles.ts";
import { createSessions } from "../../../src/console/auth/sessions.ts";
import { createShareLinks } from "../../../src/console/auth/share-links.ts";
import { createAttempts } from "../../../src/console/auth/sign-in-throttle.ts";
import { createTokens, newToken } from "../../../src/console/auth/tokens.ts";
import { createUsers } from "../../../src/console/auth/users.ts";
import { createHandler } from "../../../src/console/handler.ts";
import type { Route } from "../../../src/console/route.ts";
import { createRoutes } from "../../../src/console/routes.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { Documents } from "../../../src/engine/records.ts";
import { createWebhookClient } from "../../../src/events/webhook-client.ts";
import { parseTrustedPeers } from "../../../src/http/server/forwarded.ts";
import { listen } from "../../../src/http/server/listen.ts";
import { openEngine } from "../../../src/open.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Question {
  readonly query?: Readonly<Record<string, string | number>>;
  readonly json?: unknown;
}

export interface ApiScene {
  readonly engine: Engine;
  /** The audited actions, with the name of the bucket. */
  readonly audited: string[];
  /** Audited sign-ins and refusals, with the name of the user. */
  readonly signIns: string[];
  /** Lines in the log of the server. */
  readonly logged: string[];
  /** URL of the console, without a trailing slash. */
  readonly url: string;
  readonly documents: Documents;
  readonly auditLog: AuditLog;
  readonly routes: readonly Route[];
  /** Returns a client that is signed in with a new token of these permissions. */
  signIn(permissions: Permissions): Promise<Pick<ApiScene, "ask" | "get" | "refused" | "bytes">>;
  ask(name: string, question?: Question): Promise<Answer>;
  /** Returns the bytes of a path with its query. */
  bytes(path: string): Promise<Uint8Array>;
  /** Asserts that the request succeeds, and returns its JSON. */
  get<T>(name: string, question?: Question): Promise<T>;
  /** Asserts that the request fails with the status, and returns the message. */
  refused(status: number, name: string, question?: Question): Promise<string>;
}

export interface ApiSceneOptions {
  readonly providers?: readonly ProviderOptions[];
  readonly trustedProxies?: readonly string[];
  readonly webhookAllow?: readonly string[];
}

/** Opens a store with the bucket "bucket". */
export async function apiScene(
  t: TestContext,
  { providers: given = [], trustedProxies = [], webhookAllow = [] }: ApiSceneOptions = {},
): Promise<ApiScene> {
  const { engine, documents, auditLog } = await openEngine("memory:");
  await engine.createBucket("bucket");
  const now = Date.now;
  const own = newToken();
  const tokens = createTokens(documents, now);
  const users = createUsers(documents, now);
  const providers = createProviders(given, documents, now);
  const { groupPermissions } = providers;
  const sessions = createSessions({ documents, tokens, users, ownToken: own.hash, groupPermissions, now });
  const s3 = { endpoint: "http://127.0.0.1:9000", accessKeyId: "STORE", secretAccessKey: "secret" };
  const audited: string[] = [];
  const logged: string[] = [];
  const signIns: string[] = [];
  // The real implementation, of which only some fields of the opened store are needed.
  const buckets = consoleBuckets({
    data: { engine, documents, secretKey: () => Buffer.alloc(32) } as unknown as Data,
    publicPort: () => 9002,
    webhooks: createWebhookClient({ allow: webhookAllow }),
    serverNames: { names: ["console.example.net"], bases: ["localhost", "public.example.net"] },
  });
  const routes = createRoutes({
    ...{ documents, buckets, url: undefined },
    ...{ engine, sessions, keys, metrics: undefined, scripts, s3, now, users, tokens, status },
    ...{ providers: providers.list, audit: auditLog },
  });
  const handler = createHandler({
    files: () => undefined,
    sessions,
    routes,
    openRoutes: [
      signInRoute(sessions, createAttempts(now)),
      ...oidcRoutes({
        ...{ providers, sessions, url: undefined, log: (line: string) => logged.push(line) },
        attempts: createAttempts(now, maxSignIns),
      }),
    ],
    policy: "",
    hostNames: [],
    log: (line) => assert.fail(line),
    monitoring: () => undefined,
    shared: createSharedDownloads(engine, createShareLinks(documents, now)),
    recordAudit: async (entry: Omit<AuditEntry, "time">) => {
      const { act, subject, by } = entry;
      await auditLog.record({ time: new Date(now()).toISOString(), ...entry });
      if (/sign/.test(act)) signIns.push(`${act} ${by.name ?? ""}`.trim());
      if (subject !== undefined) audited.push(`${act} ${subject}`);
    },
    now,
  });
  const trusted = parseTrustedPeers(trustedProxies);
  const server = await listen(handler, { host: "127.0.0.1", port: 0 }, { trusted });
  t.after(async () => {
    await server.drain();
    await engine.close();
  });
  const url = `http://127.0.0.1:${server.port}`;
  const headers = { "x-store-console": "1", "content-type": "application/json" };
  const client = async (token: string) => {
    const body = JSON.stringify({ token });
    const signedIn = await fetch(`${url}/api/session`, { method: "POST", headers, body });
    const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
    return createClient(url, { ...headers, cookie, connection: "close" });
  };
  return {
    ...{ url, engine, documents, auditLog, audited, logged, signIns, routes, ...(await client(own.token)) },
    async signIn(permissions) {
      return client((await tokens.create({ name: "test", permissions })).token);
    },
  };
}

/** Parts of other modules, which these tests do not need. */
const keys: ConsoleKeys = {
  rights: [],
  list: async () => [],
  create: async () => ({ accessKeyId: "KEY", secretAccessKey: "secret", previousUntil: null }),
  endGrants: async () => {},
  change: async () => false,
  rotate: async () => undefined,
};
const scripts: ConsoleScripts = {
  list: async () => [],
  faults: () => [],
  lines: async () => [],
  restart: async () => false,
  putSecret: async () => {},
  deleteSecret: async () => false,
};
const status: ConsoleStatus = {
  health: async () => ({
    ...{ version: "1.2.3", troubles: [], disk: null, lastBackup: null, scripts: 0, faults: 0 },
    endpoint: "http://127.0.0.1:9000",
  }),
  about: async () => ({
    ...{ version: "1.2.3", node: "v20.19.0", started: 0, data: ["memory:"], ports: [] },
    encryption: "by bucket",
  }),
};

function createClient(
  url: string,
  headers: Readonly<Record<string, string>>,
): Pick<ApiScene, "ask" | "get" | "refused" | "bytes"> {
  async function ask(name: string, { query = {}, json }: Question = {}): Promise<Answer> {
    const [method, path] = name.split(" ") as [string, string];
    const search = new URLSearchParams(
      Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
    );
    const init = { method, headers };
    const response = await fetch(
      `${url}${path}?${search}`,
      json === undefined ? init : { ...init, body: JSON.stringify(json) },
    );
    return { status: response.status, text: await response.text() };
  }
  return {
    ask,
    async bytes(path) {
      const response = await fetch(url + path, { headers });
      assert.equal(response.status, 200);
      return new Uint8Array(await response.arrayBuffer());
    },
    async get<T>(name: string, question?: Question) {
      const { status, text } = await ask(name, question);
      assert.ok(status < 300, `${name}: ${status} ${text}`);
      return (text === "" ? undefined : JSON.parse(text)) as T;
    },
    async refused(wanted, name, question) {
      const { status, text } = await ask(name, question);
      assert.equal(status, wanted, text);
      return (JSON.parse(text) as { error: { message: string } }).error.message;
    },
  };
}
