// Asks a port of this server whether it is served: by a real connection and a real request, as a client would.
import { request as httpRequest } from "node:http";
import { request as secureRequest } from "node:https";

/** Names the secret that the server's own processes share. */
export const probeHeader = "x-store-probe";

export interface ProbeTarget {
  /** The address that the port listens on. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Whether the port answers within the time. */
export function probePort(target: ProbeTarget, secret: string, milliseconds: number): Promise<boolean> {
  const { port, isSecure } = target;
  const send = isSecure ? secureRequest : httpRequest;
  return new Promise((resolve) => {
    const request = send({
      ...{ host: connectableHost(target.host), port, method: "OPTIONS", path: "/", agent: false },
      headers: { [probeHeader]: secret, connection: "close" },
      // The certificate names the server as its clients call it, which is not this address.
      rejectUnauthorized: false,
    });
    const timeout = setTimeout(() => request.destroy(), milliseconds);
    request.once("response", (response) => {
      response.resume();
      resolve(response.statusCode === 204);
    });
    request.on("error", () => resolve(false));
    request.once("close", () => {
      clearTimeout(timeout);
      resolve(false);
    });
    request.end();
  });
}

/** A wildcard is not an address to connect to everywhere. */
function connectableHost(host: string): string {
  return host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
}
