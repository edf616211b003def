// One process of the S3 API, as its supervisor holds it.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { createHandover } from "../http/handover.ts";
import type { TlsSource } from "../http/tls.ts";
import type { Watch, Watched } from "../metrics/watch.ts";
import type { Location } from "../model/location.ts";
import type { Uses } from "./key-uses.ts";
import type { FromS3Process, OpenS3, ToS3Process } from "./server-messages.ts";

export interface S3ProcessOptions {
  readonly location: Location;
  readonly domains: readonly string[];
  /** What credentials are sealed with. */
  readonly secretKey: Uint8Array;
  /** With it the port speaks HTTPS. */
  readonly tls: TlsSource | undefined;
  /** Proxies in front: their addresses and networks. */
  readonly trusted: readonly string[];
  readonly log: (line: string) => void;
  /** Who is told what the processes count, and given the lines of the request log. */
  readonly watch: Watch;
  /** Told now and then of the keys that were used. */
  readonly onUsed?: ((uses: Uses) => void) | undefined;
}

export interface S3Process {
  /** Hands over a connection; one that it does not take stays with the caller. */
  offer(socket: Socket): Promise<boolean>;
  /** Lets requests under way finish. */
  end(): Promise<void>;
  /** Resolves with words on how it ended. */
  readonly ended: Promise<string>;
}

const program = fileURLToPath(new URL("./server-process.js", import.meta.url));
const endMilliseconds = 60_000;
/**
 * Small nurseries, and heaps that are collected when they have grown by a third: among a thousand uploads the
 * defaults leave 60 MiB more of dead objects, since all that is large lies outside of the heap. And no threads beside
 * that collect: there is a process a core already.
 */
const memoryFlags = ["--max-semi-space-size=4", "--heap-growing-percent=30", "--single-threaded-gc"];

/** Resolves when it can serve. */
export async function startProcess(options: S3ProcessOptions): Promise<S3Process> {
  const child = fork(program, [], { execArgv: [...process.execArgv, ...memoryFlags] });
  const exited = once(child, "exit") as Promise<[number | null, string | null]>;
  // Behind the last that it has said.
  const disconnected = once(child, "disconnect");
  const ended = exited.then(([code, signal]) => (signal === null ? `exit code ${code}` : `signal ${signal}`));
  const say = (message: ToS3Process, socket?: Socket) => {
    // What it does not get any more because it is ending, it does not miss.
    if (child.connected) child.send(message, socket, { keepOpen: true }, () => {});
  };
  const handover = createHandover((id, deadline, socket) =>
    say({ kind: "connection", id, deadline }, socket),
  );
  let watched: Watched | undefined;
  child.on("message", (message: FromS3Process) => {
    if (message.kind === "figures" || message.kind === "request lines") watched?.heard(message);
    if (message.kind === "connection") handover.answered(message.id, message.isTaken);
    if (message.kind === "log") options.log(message.line);
    if (message.kind === "used") options.onUsed?.(message.uses);
  });
  const forget = options.tls?.onChange((pair) => say({ kind: "tls", pair }));
  void ended.then(forget);
  await opened(child, ended, options);
  // Not before: one that is still coming up would keep those waiting who ask for figures.
  watched = options.watch.join(say);
  void disconnected.then(watched.left);
  return {
    offer: (socket) => handover.offer(socket),
    async end() {
      const late = setTimeout(() => child.kill("SIGKILL"), endMilliseconds);
      if (child.connected) say({ kind: "close" });
      else child.kill("SIGKILL");
      await Promise.all([ended, disconnected]);
      clearTimeout(late);
    },
    ended,
  };
}

function opened(child: ChildProcess, ended: Promise<string>, options: S3ProcessOptions): Promise<void> {
  const { location, domains, trusted, tls } = options;
  const secretKey = Buffer.from(options.secretKey).toString("base64");
  const open = (): OpenS3 => ({
    ...{ kind: "open", location, domains, secretKey, trusted },
    tls: tls?.current(),
    observing: options.watch.observing,
  });
  return new Promise((resolve, reject) => {
    child.on("message", (message: FromS3Process) => {
      if (message.kind === "warm") child.send(open());
      if (message.kind === "ready") resolve();
      if (message.kind !== "failed") return;
      reject(new Error(message.message));
      // It serves nothing, and another is tried in its place.
      child.kill("SIGKILL");
    });
    child.on("error", reject);
    void ended.then((how) => reject(new Error(`A process of the S3 API did not start: ${how}.`)));
  });
}
