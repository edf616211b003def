// HTTP proxy for virtual-hosted-style host names that do not resolve: forwards every request to the
// server with the host and headers that the client signed.
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** Starts the proxy and returns its URL. */
export async function proxyTo(t: TestContext, server: string): Promise<URL> {
  const { hostname, port } = new URL(server);
  function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, rawHeaders } = incoming;
    const path = incoming.url!.replace(/^http:\/\/[^/]*/, "");
    const forwarded = request({ hostname, port, method, path, headers: rawHeaders, agent: false });
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
