// A static file server for a checkout, on loopback. The checkout's Python handlers are not run: a
// request for a handler is answered 501 and recorded, so that tests which need it are recognized.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readResource } from "./resource.ts";

export interface FileServer {
  readonly port: number;
  /** Handlers that were requested, for example "fetch/api/resources/echo-content.py". */
  readonly requestedHandlers: ReadonlySet<string>;
  close(): void;
}

export async function startFileServer(checkout: string): Promise<FileServer> {
  const requestedHandlers = new Set<string>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://host").pathname).slice(1);
    if (path.endsWith(".py")) {
      requestedHandlers.add(path);
      response.writeHead(501).end();
      return;
    }
    const { port } = server.address() as AddressInfo;
    const resource = readResource(checkout, path, port);
    if (resource === undefined) {
      response.writeHead(404).end();
      return;
    }
    for (const [name, value] of resource.headers) response.appendHeader(name, value);
    response.setHeader("Content-Length", resource.body.length);
    response.end(request.method === "HEAD" ? undefined : resource.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    requestedHandlers,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
