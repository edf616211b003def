// Starts one worker process of the S3 API and handles its messages.
import { fileURLToPath } from "node:url";
import type { Uses } from "../../access/keys/key-usage.ts";
import { serverEnvironment } from "../../child/environment.ts";
import { type StartMessage, startChild } from "../../child/start-child.ts";
import type { PortOptions } from "../../http/port-options.ts";
import { divideLimits } from "../../http/server/limits.ts";
import type { SharedListener } from "../../http/server/shared-listener.ts";
import type { Watch, WatchedProcess } from "../../metrics/collector.ts";
import { type FromS3Process, type OpenS3, parseFromS3Process, type ToS3Process } from "./messages.ts";

/** `limits` are the limits of the port, for all processes together. */
export interface S3ProcessOptions
  extends Pick<OpenS3, "location" | "domains">,
    Partial<Pick<OpenS3, "openUploads" | "encryption" | "blocksPublicAccess" | "region">>,
    PortOptions {
  /** Key that encrypts the stored credentials. */
  readonly secretKey: Uint8Array;
  readonly processes: number;
  /** Environment of this process. Workers get it without the STORE_* variables. */
  readonly environment: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /** Receives the metrics of the processes and the lines of the request log. */
  readonly watch: Watch;
  /** Called when a worker reports the access keys that were used, at most once a second. */
  readonly onUsed?: ((uses: Uses) => void) | undefined;
}

export interface S3Process {
  /** Stops the process after its requests in flight have finished. */
  end(): Promise<void>;
  /** Resolves with the exit code, the signal or the error, as text. */
  readonly ended: Promise<string>;
}

const program = fileURLToPath(new URL("./worker.js", import.meta.url));
const endMilliseconds = 60_000;
/**
 * With V8's defaults, a thousand concurrent uploads leave 60 MiB more garbage. Parallel garbage
 * collection does not help, because there is already one process per core.
 */
const memoryFlags = ["--max-semi-space-size=4", "--heap-growing-percent=30", "--single-threaded-gc"];

/** Resolves when the process accepts connections. */
export async function startProcess(options: S3ProcessOptions, listener: SharedListener): Promise<S3Process> {
  const { log, watch, onUsed } = options;
  let watched: WatchedProcess | undefined;
  const child = startChild<Exclude<FromS3Process, StartMessage>, ToS3Process>({
    title: () => "A process of the S3 API",
    program,
    nodeOptions: [...process.execArgv, ...memoryFlags],
    environment: serverEnvironment(options.environment),
    listener: listener.handle,
    parse: parseFromS3Process,
    log,
    onMessage(message) {
      if (message.kind === "log") log(message.line);
      else if (message.kind === "used") onUsed?.(message.uses);
      else watched?.receive(message);
    },
  });
  const unsubscribe = options.tls?.onChange((pair) => child.send({ kind: "tls", pair }));
  void child.ended.then(unsubscribe);
  await child.warm;
  child.send(openMessage(options));
  await child.ready;
  // Join only now: a process that is still starting would delay every metrics snapshot.
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

function openMessage(options: S3ProcessOptions): OpenS3 {
  const { location, domains, trusted, tls, processes, probe, watch } = options;
  const { openUploads, encryption, blocksPublicAccess, region } = options;
  const limits = divideLimits(options.limits, { processes, ports: 1 });
  const secretKey = Buffer.from(options.secretKey).toString("base64");
  return {
    ...{
      kind: "open",
      location,
      domains,
      secretKey,
      trusted,
      limits,
      probe,
      openUploads,
      encryption,
      blocksPublicAccess,
      region,
      processes,
    },
    tls: tls?.current(),
    observing: watch.observing,
  };
}
