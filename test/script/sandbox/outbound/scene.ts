// A proxy on a Unix socket and servers on loopback, which play the hosts that a script fetches.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { PairText } from "../../../../src/http/tls/certificate.ts";
import {
  listenOutbound,
  type OutboundProxyOptions,
} from "../../../../src/script/sandbox/outbound/outbound-proxy.ts";

export interface ProxyAnswer {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly text: string;
  header(name: string): string | undefined;
}

export interface ProxyRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
}

export interface TestProxy {
  readonly path: string;
  readonly logged: readonly string[];
  /** Sends a request in proxy form, like the runtime without a Host header. */
  fetch(url: string, asked?: ProxyRequest): Promise<ProxyAnswer>;
  open(url: string, asked?: ProxyRequest): Promise<IncomingMessage>;
}

export async function startProxy(t: TestContext, options: OutboundProxyOptions): Promise<TestProxy> {
  const folder = mkdtempSync(join(tmpdir(), "outbound-"));
  const path = join(folder, "outbound");
  const logged: string[] = [];
  const listener = await listenOutbound(path, { log: (line) => logged.push(line), ...options });
  t.after(async () => {
    await listener.drain();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(url: string, asked: ProxyRequest = {}): Promise<IncomingMessage> {
    const { method = "GET", headers = {}, body } = asked;
    const outgoing = request({ socketPath: path, path: url, method, headers, setHost: false, agent: false });
    const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
    if (body === undefined || typeof body === "string") outgoing.end(body);
    else {
      for await (const chunk of body) if (!outgoing.write(chunk)) await once(outgoing, "drain");
      outgoing.end();
    }
    const [incoming] = await answered;
    return incoming;
  }

  return {
    ...{ path, logged, open },
    async fetch(url, asked) {
      const incoming = await open(url, asked);
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { statusCode, rawHeaders, headers } = incoming;
      return {
        ...{ status: statusCode!, rawHeaders, text: Buffer.concat(chunks).toString() },
        header: (name) => headers[name]?.toString(),
      };
    },
  };
}

export interface TestServer {
  readonly port: number;
  readonly server: Server;
}

/** Starts a server on loopback, with TLS if there is a certificate. */
export async function startServer(
  t: TestContext,
  listener: RequestListener,
  pair?: PairText,
): Promise<TestServer> {
  const server =
    pair === undefined
      ? createServer(listener)
      : createSecureServer({ cert: pair.certificate, key: pair.key }, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server };
}
