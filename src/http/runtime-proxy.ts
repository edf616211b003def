// Forwards a request to a runtime over a Unix socket. Node's HTTP client would cost more than all
// other work of the router.
import { hopByHopHeaders } from "./headers.ts";
import { withSenderHeaders } from "./server/forwarded.ts";
import type { HttpRequest, HttpResponse } from "./server/listen.ts";
import { toLowerCase } from "./wire/parse-head.ts";
import { type IncomingResponse, sendRequest } from "./wire/send-request.ts";

const hopByHop: ReadonlySet<string> = new Set(hopByHopHeaders);

/** Whether the process cannot have received anything, after `forwardToRuntime` failed with this error. */
export function isUnreached(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNREFUSED" || code === "ENOENT";
}

/** Rejects if the runtime ends before it responds, or does not respond in valid HTTP. */
export async function forwardToRuntime(request: HttpRequest, socketPath: string): Promise<HttpResponse> {
  const { method, hasBody, onDisconnect } = request;
  const response = toHttpResponse(
    await sendRequest(socketPath, {
      method,
      onDisconnect,
      head: formatHead(request),
      body: hasBody ? () => request.bufferedBody?.() ?? request.body() : undefined,
      framing: request.header("transfer-encoding") === undefined ? "length" : "chunked",
    }),
  );
  // An empty body would get a Content-Length of 0, which is not that of the response to a GET.
  return method === "HEAD" ? { ...response, body: null } : response;
}

function formatHead(request: HttpRequest): string {
  const { method, target, header } = request;
  const headers = withSenderHeaders(request);
  let text = `${method} ${target} HTTP/1.1\r\n`;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!;
    if (!hopByHop.has(toLowerCase(name) ?? "")) text += `${name}: ${headers[i + 1]}\r\n`;
  }
  // The Host header is optional in HTTP/1.0.
  if (header("host") === undefined) text += "host: localhost\r\n";
  if (header("transfer-encoding") !== undefined) text += "transfer-encoding: chunked\r\n";
  return `${text}\r\n`;
}

function toHttpResponse({ head, body }: IncomingResponse): HttpResponse {
  const { status, statusText, rawHeaders } = head;
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (!hopByHop.has(toLowerCase(name) ?? "")) headers.push([name, rawHeaders[i + 1]!]);
  }
  return { status, statusText, headers, body };
}
