// Checks that a port of this server responds, with a real connection and request.
import { request as httpRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { clearTimeout, setTimeout } from "node:timers";

/** Header with the secret that the server's processes share. */
export const probeHeader = "x-store-probe";

export interface ProbeTarget {
  /** The address that the port listens on. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Whether the port responds in time. */
export function probePort(target: ProbeTarget, secret: string, milliseconds: number): Promise<boolean> {
  const { port, isSecure } = target;
  const send = isSecure ? secureRequest : httpRequest;
  return new Promise((resolve) => {
    const request = send({
      ...{ host: connectableHost(target.host), port, method: "OPTIONS", path: "/", agent: false },
      headers: { [probeHeader]: secret, connection: "close" },
      // The certificate is for the server's public name, not for this address.
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

/** Replaces a wildcard address by loopback: not every system can connect to a wildcard address. */
function connectableHost(host: string): string {
  return host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
}
