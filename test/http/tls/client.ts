// A TLS client that trusts a single certificate.
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import type { TLSSocket } from "node:tls";

export interface SecureAnswer {
  readonly status: number;
  readonly text: string;
  /** Fingerprint of the server's certificate. */
  readonly fingerprint: string;
  readonly protocol: string | false | null;
  /** Whether the connection of the previous request was reused. */
  readonly isKept: boolean;
}

export interface SecureClient {
  ask(path: string, headers?: Readonly<Record<string, string>>): Promise<SecureAnswer>;
}

/** Creates a client that uses one keep-alive connection. */
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
