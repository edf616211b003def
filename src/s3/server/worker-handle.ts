// One process of the S3 API, as its supervisor holds it.
import { fileURLToPath } from "node:url";
import { serverEnvironment } from "../../child/environment.ts";
import { type Child, startChild } from "../../child/start-child.ts";
import { divideLimits, type PortLimits } from "../../http/server/limits.ts";
import type { SharedListener } from "../../http/server/shared-listener.ts";
import type { TlsSource } from "../../http/tls/tls.ts";
import type { Watch, WatchedProcess } from "../../metrics/collector.ts";
import type { Location } from "../../model/location.ts";
import type { Uses } from "../auth/key-usage.ts";
import { type FromS3Process, type OpenS3, parseFromS3Process, type ToS3Process } from "./messages.ts";

export interface S3ProcessOptions {
  readonly location: Location;
  readonly domains: readonly string[];
  /** What credentials are sealed with. */
  readonly secretKey: Uint8Array;
  /** With it the port speaks HTTPS. */
  readonly tls: TlsSource | undefined;
  /** Proxies in front: their addresses and networks. */
  readonly trusted: readonly string[];
  /** Of all processes together. */
  readonly limits: PortLimits;
  readonly processes: number;
  readonly probe: string;
  /** Open multipart uploads of each bucket. */
  readonly openUploads?: number | undefined;
  /** The variables of this server's environment; its processes get those that are not settings. */
  readonly environment: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /** Receives what the processes count, and the lines of the request log. */
  readonly watch: Watch;
  /** Called now and then with the keys that were used. */
  readonly onUsed?: ((uses: Uses) => void) | undefined;
}

export interface S3Process {
  /** Lets requests in flight finish. */
  end(): Promise<void>;
  /** Resolves with how it ended, in words. */
  readonly ended: Promise<string>;
}

const program = fileURLToPath(new URL("./worker.js", import.meta.url));
const endMilliseconds = 60_000;
/**
 * Small nurseries, and heaps that are collected when they have grown by a third: among a thousand uploads the
 * defaults leave 60 MiB more of dead objects, since all that is large lies outside of the heap. And no threads beside
 * that collect: there is a process a core already.
 */
const memoryFlags = ["--max-semi-space-size=4", "--heap-growing-percent=30", "--single-threaded-gc"];

/** Resolves when it can serve. */
export async function startProcess(options: S3ProcessOptions, listener: SharedListener): Promise<S3Process> {
  const { log, watch, onUsed } = options;
  let watched: WatchedProcess | undefined;
  const startup = createStartup(options);
  const child: Child<ToS3Process> = startChild<FromS3Process, ToS3Process>({
    title: () => "A process of the S3 API",
    program,
    nodeOptions: [...process.execArgv, ...memoryFlags],
    environment: serverEnvironment(options.environment),
    listener: listener.handle,
    parse: parseFromS3Process,
    log,
    onMessage(message) {
      if (message.kind === "metrics" || message.kind === "request lines") watched?.receive(message);
      else if (message.kind === "log") log(message.line);
      else if (message.kind === "used") onUsed?.(message.uses);
      else startup.onMessage(message, child);
    },
  });
  const unsubscribe = options.tls?.onChange((pair) => child.send({ kind: "tls", pair }));
  void child.ended.then(unsubscribe);
  void child.ended.then(startup.onEnd);
  await startup.started;
  // Not earlier: a process that is still starting would delay those who ask for metrics.
  watched = watch.join((message) => child.send(message));
  void child.disconnected.then(watched.remove);
  return {
    async end() {
      const killTimer = setTimeout(() => child.kill(), endMilliseconds);
      child.send({ kind: "close" });
      await Promise.all([child.ended, child.disconnected]);
      clearTimeout(killTimer);
    },
    ended: child.ended,
  };
}

type StartMessage = Extract<FromS3Process, { readonly kind: "warm" | "ready" | "failed" }>;

interface Startup {
  /** Resolves when the process serves. */
  readonly started: Promise<void>;
  onMessage(message: StartMessage, child: Child<ToS3Process>): void;
  onEnd(how: string): void;
}

function createStartup(options: S3ProcessOptions): Startup {
  let resolve = () => {};
  let reject: (error: Error) => void = () => {};
  const started = new Promise<void>((...settle) => {
    [resolve, reject] = settle;
  });
  return {
    started,
    onMessage(message, child) {
      if (message.kind === "warm") child.send(openMessage(options));
      else if (message.kind === "ready") resolve();
      else {
        reject(Object.assign(new Error(message.message), { code: message.code }));
        // It serves nothing, and another is tried in its place.
        child.kill();
      }
    },
    onEnd: (how) => reject(new Error(`A process of the S3 API did not start: ${how}.`)),
  };
}

function openMessage(options: S3ProcessOptions): OpenS3 {
  const { location, domains, trusted, tls, processes, probe, openUploads, watch } = options;
  const limits = divideLimits(options.limits, { processes, ports: 1 });
  const secretKey = Buffer.from(options.secretKey).toString("base64");
  return {
    ...{ kind: "open", location, domains, secretKey, trusted, limits, probe, openUploads },
    tls: tls?.current(),
    observing: watch.observing,
  };
}
