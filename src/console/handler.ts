// Handles every request to the console's port: checks host, origin and session, then runs the
// route. Errors become messages, and every response gets security headers.
import { type AuditAggregator, createAuditAggregator } from "../audit/aggregate.ts";
import type { RecordAudit } from "../audit/audit-log.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { nextRequestId } from "../http/server/request-id.ts";
import type { Exchange } from "../metrics/exchange.ts";
import { type AuditedAction, createRefusals, findAuditedAction, toDenial } from "./api/audited-routes.ts";
import { isSharePath, type SharedDownloads } from "./api/bucket/shares.ts";
import { readSessionId } from "./api/session.ts";
import { checkHost, checkOrigin } from "./auth/origin-check.ts";
import type { Session, Sessions } from "./auth/sessions.ts";
import { isMonitoringPath, type Monitoring } from "./monitoring.ts";
import type { PageFiles } from "./page-files.ts";
import { ConsoleError, faultResponse, toErrorResponse, withStrictHeaders } from "./response.ts";
import { type Call, type OpenRoute, parseFields, parseQuery, type Route } from "./route.ts";
import { checkRight, RoleError } from "./route-check.ts";

export interface HandlerOptions {
  readonly files: PageFiles;
  readonly sessions: Sessions;
  readonly routes: readonly Route[];
  readonly openRoutes: readonly OpenRoute[];
  /** Content-Security-Policy of the page. */
  readonly policy: string;
  /** Host names that are accepted in addition to IP addresses and localhost. */
  readonly hostNames: readonly string[];
  readonly monitoring: Monitoring;
  readonly shared: SharedDownloads;
  readonly recordAudit: RecordAudit;
  /** Combines requests that a role does not allow in the audit log. Default: one of this handler. */
  readonly denials?: AuditAggregator | undefined;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Called for every request, after its response has ended. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

export function createHandler(options: HandlerOptions): HttpHandler {
  const routes = byName(options.routes);
  const openRoutes = byName(options.openRoutes);
  const nextRefusal = createRefusals(options.now);
  const denials = options.denials ?? createAuditAggregator({ record: options.recordAudit });

  async function respond(request: HttpRequest, id: string): Promise<HttpResponse> {
    const [path = "", search = ""] = split(request.target);
    const monitoringResponse = options.monitoring(request, path);
    if (monitoringResponse !== undefined) return monitoringResponse;
    checkHost(request, options.hostNames);
    const file = options.files(request, path);
    if (file !== undefined) return file;
    // Before the check of the origin: a link is opened from other sites, and carries its own right.
    const download = await options.shared(request, path, search);
    if (download !== undefined) return download;
    checkOrigin(request, options.hostNames);
    const name = `${request.method} ${path}`;
    const [open, route] = [openRoutes.get(name), routes.get(name)];
    let fields: ReturnType<typeof parseFields> | undefined;
    const read = () => {
      fields ??= parseFields(request, (open ?? route)?.maxJsonBytes);
      return fields;
    };
    const call = { request, query: parseQuery(search), fields: read };
    if (open !== undefined) return withAudit(id, name, { ...call, session: undefined }, () => open.run(call));
    const session = await options.sessions.find(readSessionId(request) ?? "");
    if (session === undefined)
      throw new ConsoleError(401, "You are not signed in, or your session has ended.");
    if (route === undefined) throw new ConsoleError(404, "This path does not exist.");
    const sessionCall = { ...call, session };
    try {
      await checkRight(route.needs, sessionCall);
      return await withAudit(id, name, sessionCall, () => route.run(sessionCall));
    } catch (error) {
      if (error instanceof RoleError) {
        const by = { name: session.name, remoteAddress: request.address(), request: id };
        denials.add(`${session.owner} ${name}`, toDenial(name, error.missing.bucket, by));
      }
      throw error;
    }
  }

  /** Records administrative actions and refused sign-ins in the audit log. */
  async function withAudit(
    id: string,
    name: string,
    call: Omit<Call, "session"> & { readonly session: Session | undefined },
    run: () => HttpResponse | Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    const record = async (audited: AuditedAction | undefined) => {
      if (audited === undefined) return;
      const { action, subject, detail, count } = audited;
      const who = { name: audited.name ?? call.session?.name, remoteAddress: call.request.address() };
      await options.recordAudit({
        act: action,
        subject,
        detail,
        count,
        by: { face: "console", ...who, request: id },
      });
    };
    try {
      const response = await run();
      await record(await findAuditedAction(name, call, response));
      return response;
    } catch (error) {
      const isRefused = error instanceof ConsoleError && error.status === 401;
      if (isRefused && call.session === undefined) await record(await nextRefusal(call));
      throw error;
    }
  }

  /** Operation name for metrics, from a small fixed set. */
  function operationName(request: HttpRequest, status: number): string {
    const [path] = split(request.target);
    const name = `${request.method} ${path}`;
    if (routes.has(name) || openRoutes.has(name)) return name;
    if (isMonitoringPath(path)) return "Monitoring";
    if (isSharePath(path)) return "Share";
    return status === 200 || status === 304 ? "Page" : "Unknown";
  }

  return async (request) => {
    const id = nextRequestId();
    const began = performance.now();
    const response = await respond(request, id).catch(
      // A client that disconnects, for example by cancelling an upload, is not an error to log.
      (error: unknown) =>
        toErrorResponse(error) ?? logFault(error, id, isGone(request) ? () => {} : options.log),
    );
    const { status, headers } = withStrictHeaders(response, options.policy);
    return {
      ...response,
      headers: [...headers, ["x-request-id", id]],
      onSent: (bytesOut, isWhole) =>
        options.onExchange?.({
          ...{
            frontEnd: "console",
            id,
            method: request.method,
            operation: operationName(request, status),
            status,
          },
          ...{ bytesIn: request.bytesRead(), bytesOut, milliseconds: performance.now() - began, isWhole },
          remoteAddress: request.address,
        }),
    };
  };
}

function isGone(request: HttpRequest): boolean {
  let isGone = false;
  request.onDisconnect(() => {
    isGone = true;
  });
  return isGone;
}

/** Logs the request id instead of the URL, whose query contains object keys. */
function logFault(error: unknown, id: string, log: (line: string) => void): HttpResponse {
  log(
    `The console failed (${id}): ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return faultResponse(id);
}

function split(target: string): [path: string, search: string] {
  const at = target.indexOf("?");
  return at === -1 ? [target, ""] : [target.slice(0, at), target.slice(at + 1)];
}

function byName<T extends { readonly method: string; readonly path: string }>(
  routes: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
}
