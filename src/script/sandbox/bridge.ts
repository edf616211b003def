// The bridge: a process with one engine that serves the sockets of all sandboxes. A socket is the
// right to one bucket, one namespace, the assets of one script, or its outbound requests.
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { isCompatibilityFlag, parseCompatibility } from "../../binding/compatibility.ts";
import { bucketListenOptions, createBucketCapability } from "../../capability/bucket/bucket-capability.ts";
import { createKvCapability } from "../../capability/kv/kv-capability.ts";
import { connectParent } from "../../child/parent.ts";
import type { Engine } from "../../engine/engine.ts";
import { type HttpHandler, type HttpListener, type ListenOptions, listen } from "../../http/server/listen.ts";
import { createOpenStreams, type OpenStreams } from "../../http/server/listener-state.ts";
import { registerProcessMetrics } from "../../metrics/process-metrics.ts";
import { createObserver, type Observer } from "../../metrics/reporter.ts";
import { errorMessage } from "../../model/errors.ts";
import { openEngine } from "../../open.ts";
import { createFairConnections, type FairConnections, scriptSocketLimits } from "../fair-connections.ts";
import { heartbeatMilliseconds } from "../host/messages.ts";
import { openSandboxAssets, type SandboxAssets } from "./assets-endpoint.ts";
import {
  type FromBridge,
  maxBridgeText,
  type OpenBridge,
  type SandboxRights,
  type ToBridge,
} from "./bridge-messages.ts";
import { createFairStarts } from "./fair-starts.ts";
import { createOutbound } from "./outbound/outbound-proxy.ts";
import { socketNames } from "./runtime/runtime-config.ts";

interface ActiveBridge {
  readonly engine: Engine;
  readonly streams: OpenStreams;
  readonly connections: FairConnections;
  readonly settings: OpenBridge;
}

interface OpenSockets {
  readonly listeners: readonly HttpListener[];
  readonly assets: SandboxAssets | undefined;
}

interface Endpoint {
  readonly name: string;
  readonly handle: HttpHandler;
  readonly options?: ListenOptions;
}

const fairStarts = createFairStarts();

let active: ActiveBridge | undefined;
let observer: Observer | undefined;
const sandboxes = new Map<number, Promise<OpenSockets>>();

function send(message: FromBridge): void {
  parent.send(message);
}

async function open(settings: OpenBridge): Promise<void> {
  const { location, openUploads, encryption, observing } = settings;
  observer = createObserver(observing, send);
  const streams = createOpenStreams();
  registerProcessMetrics(observer.metrics, "sandbox bridge", streams);
  const { engine } = await openEngine(location, {
    ...{ metrics: observer.metrics, openUploads, encryption: encryption?.encrypt },
    secretKey: encryption && Buffer.from(encryption.secretKey, "base64"),
  });
  const connections = createFairConnections(settings.descriptors, { processes: 1, ports: 1 });
  active = { engine, streams, connections, settings };
  setInterval(() => send({ kind: "beat" }), heartbeatMilliseconds).unref();
  send({ kind: "ready" });
}

async function openSockets(rights: SandboxRights): Promise<OpenSockets> {
  if (active === undefined) throw new Error("The bridge is not open.");
  const { engine, streams, connections, settings } = active;
  const { script, buckets, namespaces, outbound } = rights;
  const assets =
    rights.assets?.binding === undefined
      ? undefined
      : await openSandboxAssets({
          ...rights,
          assets: rights.assets,
          mode: settings.mode,
          location: settings.location,
        });
  const log = (line: string) => send({ kind: "log", script, line: line.slice(0, maxBridgeText) });
  const proxy = createOutbound({ outbound, log });
  const startFairly = fairStarts.openSandbox(script);
  const storeFlags = rights.compatibilityFlags.filter(isCompatibilityFlag);
  const listing = parseCompatibility(rights.compatibilityDate, storeFlags);
  const endpoints: Endpoint[] = [
    ...buckets.map((bucket, i) => {
      const handle = startFairly(createBucketCapability({ engine, bucket, listing }));
      return { name: socketNames.bucket(i), handle, options: bucketListenOptions };
    }),
    ...namespaces.map((namespace, i) => {
      const handle = startFairly(createKvCapability({ engine, namespace }));
      return { name: socketNames.kv(i), handle, options: { shortRequests: "direct when complete" } as const };
    }),
    {
      name: socketNames.outbound,
      handle: proxy.handle,
      options: { peer: "runtime", upgrade: proxy.upgrade },
    },
    ...(assets === undefined ? [] : [{ name: socketNames.assets, handle: startFairly(assets.endpoint) }]),
  ];
  const listeners: HttpListener[] = [];
  const shared = { limits: scriptSocketLimits, share: connections.share(script), streams };
  try {
    for (const { name, handle, options } of endpoints) {
      const path = join(rights.sockets, name);
      await rm(path, { force: true });
      listeners.push(await listen(handle, { path }, { peer: "client", ...shared, ...options }));
      // The folder is private. Inside it, the user of the sandbox needs to write to connect.
      await chmod(path, 0o666);
    }
    return { listeners, assets };
  } catch (error) {
    await closeSockets({ listeners, assets });
    throw error;
  }
}

async function closeSockets({ listeners, assets }: OpenSockets): Promise<void> {
  await Promise.all(listeners.map((listener) => listener.drain()));
  assets?.close();
}

async function openSandbox(id: number, rights: SandboxRights): Promise<void> {
  const opening = openSockets(rights);
  sandboxes.set(id, opening);
  try {
    await opening;
    send({ kind: "opened", id, error: undefined });
  } catch (error) {
    sandboxes.delete(id);
    send({ kind: "opened", id, error: errorMessage(error).slice(0, maxBridgeText) });
  }
}

async function closeSandbox(id: number): Promise<void> {
  const sockets = await sandboxes.get(id)?.catch(() => undefined);
  sandboxes.delete(id);
  if (sockets !== undefined) await closeSockets(sockets);
}

async function close(): Promise<void> {
  await Promise.all([...sandboxes.keys()].map(closeSandbox));
  await active?.engine.close();
  observer?.end();
  parent.exit();
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}

const parent = connectParent<ToBridge, FromBridge>((message) => {
  if (message.kind === "open") {
    open(message).catch((error: NodeJS.ErrnoException) =>
      send({ kind: "failed", message: errorMessage(error).slice(0, maxBridgeText), code: error.code }),
    );
  } else if (message.kind === "open sandbox") {
    const { kind: _, id, ...rights } = message;
    void openSandbox(id, rights);
  } else if (message.kind === "close sandbox") closeSandbox(message.id).catch(fail);
  else if (message.kind === "close") close().catch(fail);
  else observer?.receive(message);
});
// Ignore signals to the process group, such as Ctrl-C: the supervisor ends this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

send({ kind: "warm" });
