// HTTP proxy for host names that do not resolve, or that a client signs in another form than it
// sends: forwards every request to the server with the host and headers that the client signed.
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** Starts the proxy and returns its URL. `signed` returns the headers to forward; default: unchanged. */
export async function proxyTo(
  t: TestContext,
  server: string,
  signed?: (headers: OutgoingHttpHeaders) => OutgoingHttpHeaders,
): Promise<URL> {
  const { hostname, port } = new URL(server);
  function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method } = incoming;
    const headers = signed?.(incoming.headers) ?? incoming.rawHeaders;
    const path = incoming.url!.replace(/^http:\/\/[^/]*/, "");
    const forwarded = request({ hostname, port, method, path, headers, agent: false });
    forwarded.on("error", (error) => outgoing.destroy(error));
    forwarded.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  }
  const proxy = createServer(forward);
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
}
