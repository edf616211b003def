// What programs ask a server for: whether it lives, whether it serves, and its figures. They come by whatever name and
// carry no cookie, so they stand before what keeps other pages out; the figures are for holders of a token.
import type { HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { prometheusType } from "../metrics/prometheus.ts";

export interface MonitoringSources {
  /** What keeps the store from serving, in words for anybody; nothing when it serves. */
  readonly troubles: () => Promise<readonly string[]>;
  /** In the text format of Prometheus; undefined when nothing is counted. */
  readonly metricsText: (() => Promise<string>) | undefined;
  /** Whether everybody who reaches the port may read the figures. */
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
        return text(404, "Nothing is counted: the server runs with --no-metrics.\n");
      const [, token = ""] = /^Bearer +(\S+)$/i.exec(request.header("authorization") ?? "") ?? [];
      if (!isOpen && !(await mayRead(token))) return unauthorized;
      return text(200, await metricsText(), prometheusType);
    },
  };
  return (request, path) => {
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
    if (answer === undefined) return undefined;
    const isRead = request.method === "GET" || request.method === "HEAD";
    return isRead ? answer(request) : Promise.resolve(text(405, "Only GET and HEAD.\n"));
  };
}

const unauthorized: HttpResponse = {
  ...text(
    401,
    "The figures are for holders of a token, sent as Authorization: Bearer …; make one: store console token\n" +
      "Or let everybody read them who reaches this port: --metrics-open\n",
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
