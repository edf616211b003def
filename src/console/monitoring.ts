// Monitoring endpoints: liveness, readiness and metrics. Monitoring clients use any host name and
// send no cookie, so the origin check is skipped; metrics need a token.
import type { HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { prometheusType } from "../metrics/prometheus.ts";

export interface MonitoringSources {
  /** Returns why the server is not ready, as sentences for the public; empty when it is ready. */
  readonly troubles: () => Promise<readonly string[]>;
  /** Returns the metrics in Prometheus text format; undefined when metrics are off. */
  readonly metricsText: (() => Promise<string>) | undefined;
  /** Whether metrics can be read without a token. */
  readonly isOpen: boolean;
}

export function isMonitoringPath(path: string): boolean {
  return path === "/healthz" || path === "/readyz" || path === "/metrics";
}

export type Monitoring = (request: HttpRequest, path: string) => Promise<HttpResponse> | undefined;

export function createMonitoring(
  { troubles, metricsText, isOpen }: MonitoringSources,
  mayRead: (token: string) => Promise<boolean>,
): Monitoring {
  const answers: Readonly<Record<string, (request: HttpRequest) => Promise<HttpResponse>>> = {
    "/healthz": async () => text(200, "ok\n"),
    "/readyz": async () => {
      const found = await troubles();
      return found.length === 0 ? text(200, "ready\n") : text(503, found.map((one) => `${one}\n`).join(""));
    },
    "/metrics": async (request) => {
      if (metricsText === undefined)
        return text(404, "Metrics are off: the server runs with --no-metrics.\n");
      const [, token = ""] = /^Bearer +(\S+)$/i.exec(request.header("authorization") ?? "") ?? [];
      if (!isOpen && !(await mayRead(token))) return unauthorized;
      return text(200, await metricsText(), prometheusType);
    },
  };
  return (request, path) => {
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
    if (answer === undefined) return undefined;
    const isRead = request.method === "GET" || request.method === "HEAD";
    return isRead ? answer(request) : Promise.resolve(text(405, "Only GET and HEAD are allowed.\n"));
  };
}

const unauthorized: HttpResponse = {
  ...text(
    401,
    "Metrics need a token, sent as Authorization: Bearer …; create one: store console token\n" +
      "Or serve them without a token: --metrics-open\n",
  ),
  headers: [["www-authenticate", "Bearer"], ...text(401, "").headers],
};

function text(status: number, body: string, type = "text/plain; charset=utf-8"): HttpResponse {
  return {
    status,
    headers: [
      ["cache-control", "no-store"],
      ["content-type", type],
    ],
    body,
  };
}
