// The socket on which a sandbox calls another script. Requests go the way that requests of clients
// go; calls of methods are a protocol of the runtime, whose bytes are passed on unread.
import { chmod } from "node:fs/promises";
import { dirname, join } from "node:path";
import { forward, NotTakenError } from "../../../http/proxy.ts";
import { trustAll } from "../../../http/server/forwarded.ts";
import {
  type ConnectionShare,
  type HttpHandler,
  type HttpListener,
  listen,
} from "../../../http/server/listen.ts";
import { openTunnel, type TunnelHandler } from "../../../http/tunnel.ts";
import { isWebSocketRequest } from "../../../http/upgrade/forward.ts";
import type { UpgradeHandler } from "../../../http/upgrade.ts";
import { errorMessage } from "../../../model/errors.ts";
import type { ServiceBinding } from "../../bindings.ts";
import { scriptSocketLimits } from "../../fair-connections.ts";
import { rpcHost, socketNames } from "../../sandbox/runtime/runtime-config.ts";
import type { PooledProcess } from "../processes/process-pool.ts";
import { withEnd } from "../router.ts";
import type { RunningScript } from "../running-script.ts";
import { sendUpgrade } from "../upgrade-forwarder.ts";
import { entryPointKey } from "./resolve-services.ts";

/** The script that is called. */
export type Callee = Pick<RunningScript, "handle" | "upgrade" | "pool" | "entryPoints">;

export interface ServiceSocket {
  readonly path: string;
  /** Connections of the calling script. */
  readonly share: ConnectionShare;
}

/** Listens at `path` until it is drained. */
export async function serveService(
  { entrypoint, props }: ServiceBinding,
  callee: Callee,
  { path, share }: ServiceSocket,
): Promise<HttpListener> {
  const key = entryPointKey({ entrypoint, props });
  const isDefault = entrypoint === undefined && props === undefined;

  /** Returns the socket of the entry point in one of the callee's sandboxes. */
  async function pick(): Promise<{ readonly pooled: PooledProcess; readonly socketPath: string }> {
    const pooled = await callee.pool.pick();
    const index = callee.entryPoints().findIndex((entryPoint) => entryPointKey(entryPoint) === key);
    if (index === -1 || pooled.ownSocketPath === undefined) {
      throw new Error("The entry point is not served. Restart the server to bind it.");
    }
    return { pooled, socketPath: join(dirname(pooled.ownSocketPath), socketNames.entry(index)) };
  }

  const handle: HttpHandler = async (request) => {
    if (isDefault) return callee.handle(request);
    try {
      const { pooled, socketPath } = await pick();
      const end = pooled.beginRequest?.() ?? (() => {});
      try {
        return withEnd(await forward(request, { ...pooled, socketPath }), end);
      } catch (error) {
        end();
        throw error;
      }
    } catch (error) {
      return unavailable(error);
    }
  };

  const upgrade: UpgradeHandler = async (request) => {
    if (isDefault) return callee.upgrade(request);
    if (!isWebSocketRequest(request)) return undefined;
    try {
      const { pooled, socketPath } = await pick();
      return await sendUpgrade(request, pooled, socketPath);
    } catch (error) {
      return unavailable(error);
    }
  };

  const tunnel: TunnelHandler = async (authority) => {
    if (authority !== rpcHost) return undefined;
    const { pooled, socketPath } = await pick();
    const connection = await openTunnel(socketPath, authority);
    const end = pooled.beginConnection?.(() => connection.destroy());
    if (end === undefined) {
      connection.destroy();
      return undefined;
    }
    connection.once("close", end);
    return connection;
  };

  // Headers about the client are those of the request that the calling script passes on.
  const options = {
    peer: "client",
    trusted: trustAll,
    limits: scriptSocketLimits,
    share,
    upgrade,
    tunnel,
  } as const;
  const listener = await listen(handle, { path }, options);
  // The folder is private. Inside it, the user of the sandbox needs to write to connect.
  await chmod(path, 0o666);
  return listener;
}

function unavailable(error: unknown) {
  const reason = error instanceof NotTakenError ? "The script has ended." : errorMessage(error);
  return {
    status: 503,
    headers: [["content-type", "text/plain; charset=utf-8"]] as const,
    body: `The script could not be called. ${reason}\n`,
  };
}
