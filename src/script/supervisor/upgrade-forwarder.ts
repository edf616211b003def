// Forwards requests for WebSockets to the sandboxes of a script.
import type { Duplex } from "node:stream";
import { NotTakenError } from "../../http/proxy.ts";
import { forwardUpgrade } from "../../http/upgrade/forward.ts";
import type { UpgradeRequest, UpgradeResponse } from "../../http/upgrade.ts";
import type { Pool, PooledProcess } from "./processes/process-pool.ts";

export type ForwardUpgrade = (request: UpgradeRequest) => Promise<UpgradeResponse>;

/** Far more processes than end during one handshake. */
const maxAttempts = 100;

export function createUpgradeForwarder(pool: Pool): ForwardUpgrade {
  return async (request) => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      try {
        const pooled = await pool.pick();
        return await sendUpgrade(request, pooled, pooled.socketPath);
      } catch (error) {
        if (!(error instanceof NotTakenError)) break;
      }
    }
    return unavailable("The script did not answer the request for a WebSocket. Please try again.\n");
  };
}

/** Sends the request to a socket of the process, and counts the WebSocket. */
export async function sendUpgrade(
  request: UpgradeRequest,
  pooled: PooledProcess,
  socketPath: string,
): Promise<UpgradeResponse> {
  const endRequest = pooled.beginRequest?.() ?? (() => {});
  pooled.inFlight++;
  const end = () => {
    pooled.inFlight--;
    endRequest();
  };
  try {
    const response = await forwardUpgrade(request, { socketPath });
    if (response.status !== 101) {
      (response.body as Duplex).once("close", end);
      return response;
    }
    const connection = response.body as Duplex;
    const endConnection = pooled.beginConnection?.(() => connection.destroy());
    // A WebSocket is not a request in flight: the sandbox does not wait for its end.
    endRequest();
    if (endConnection === undefined) {
      pooled.inFlight--;
      connection.destroy();
      return unavailable("The script has too many WebSockets. Please try again in a moment.\n");
    }
    connection.once("close", () => {
      pooled.inFlight--;
      endConnection();
    });
    return response;
  } catch (error) {
    end();
    throw error;
  }
}

function unavailable(body: string): UpgradeResponse {
  return { status: 503, headers: [["Content-Type", "text/plain; charset=utf-8"]], body };
}
