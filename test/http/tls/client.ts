// A client that speaks TLS and trusts one certificate alone.
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import type { TLSSocket } from "node:tls";

export interface SecureAnswer {
  readonly status: number;
  readonly text: string;
  /** The certificate it was met with. */
  readonly fingerprint: string;
  readonly protocol: string | false | null;
  /** Whether the connection is the one of the request before. */
  readonly isKept: boolean;
}

export interface SecureClient {
  ask(path: string, headers?: Readonly<Record<string, string>>): Promise<SecureAnswer>;
}

/** With one connection, which it keeps. */
export function secureClient(port: number, certificate: string): SecureClient {
  const agent = new Agent({
    ca: certificate,
    keepAlive: true,
    maxSockets: 1,
    ALPNProtocols: ["h2", "http/1.1"],
  });
  return {
    async ask(path, headers = {}) {
      const outgoing = request({ host: "127.0.0.1", port, path, headers, agent });
      outgoing.end();
      const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
      const socket = incoming.socket as TLSSocket;
      const { fingerprint256 } = socket.getPeerCertificate();
      const protocol = socket.alpnProtocol;
      const pieces: Buffer[] = [];
      for await (const piece of incoming) pieces.push(piece as Buffer);
      return {
        ...{ status: incoming.statusCode!, text: Buffer.concat(pieces).toString() },
        ...{ fingerprint: fingerprint256, protocol, isKept: outgoing.reusedSocket },
      };
    },
  };
}
