// Serves buckets on Unix sockets, in the bucket protocol of workerd: --bucket-socket PATH=BUCKET.
import { lstat, stat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { dirname } from "node:path";
import { bucketListenOptions, createBucketCapability } from "../../../capability/bucket/bucket-capability.ts";
import type { BucketCapabilityOptions } from "../../../capability/bucket/operation.ts";
import type { PortOptions } from "../../../http/port-options.ts";
import { divideLimits, supervisorShare } from "../../../http/server/limits.ts";
import { type HttpHandler, type HttpListener, listen } from "../../../http/server/listen.ts";
import { errorMessage } from "../../../model/errors.ts";
import type { Invocation, Option } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { systemCode } from "../../framework/failures.ts";
import { pathArgument } from "../../framework/path-argument.ts";
import type { Data } from "../../store/open-store.ts";

export const bucketSocketOptions: Readonly<Record<string, Option>> = {
  "bucket-socket": {
    value: "PATH=BUCKET",
    summary: "serve a bucket on a Unix socket, for workerd and tools that run it",
    repeatable: true,
  },
};

export interface BucketSocket {
  /** Absolute path of the socket. */
  readonly path: string;
  readonly bucket: string;
}

/** The system's limit of a socket's path, without its final zero byte. */
const maxPathBytes = process.platform === "darwin" ? 103 : 107;

export function bucketSocketSettings({ options, directory }: Invocation): readonly BucketSocket[] {
  const sockets: BucketSocket[] = [];
  for (const text of options.texts("bucket-socket")) {
    // The name of a bucket has no equals sign, but a path may have one.
    const at = text.lastIndexOf("=");
    if (at < 1 || at === text.length - 1) {
      throw usageError(
        `--bucket-socket must be PATH=BUCKET, such as /run/photos.sock=photos, not "${text}".`,
      );
    }
    const label = "--bucket-socket";
    const path = pathArgument({ directory }, { label, text: text.slice(0, at), expected: "a path" });
    const length = Buffer.byteLength(path);
    if (length > maxPathBytes) {
      throw usageError(
        `The path of a socket can have ${maxPathBytes} bytes, and "${path}" has ${length}.`,
        "Choose a shorter path: --bucket-socket PATH=BUCKET",
      );
    }
    if (sockets.some((other) => other.path === path)) {
      throw usageError(`--bucket-socket names "${path}" twice: choose a path for each bucket.`);
    }
    sockets.push({ path, bucket: text.slice(at + 1) });
  }
  return sockets;
}

/** Checks buckets and paths before any server starts. Removes sockets of servers that were killed. */
export async function prepareBucketSockets(
  sockets: readonly BucketSocket[],
  { engine }: Data,
): Promise<void> {
  for (const { path, bucket } of sockets) {
    if ((await engine.bucket(bucket)) === undefined) {
      throw new CommandError(`--bucket-socket: there is no bucket "${bucket}".`, {
        hint: `Create it: store bucket create ${bucket}`,
      });
    }
    await removeStale(path);
  }
}

export interface ServeSocketsOptions {
  readonly data: Data;
  readonly log: (line: string) => void;
  readonly onExchange: BucketCapabilityOptions["onExchange"];
  readonly commonPortOptions: PortOptions;
}

/** Opens all sockets, or none if one cannot be opened. Closing removes their files. */
export async function serveBucketSockets(
  sockets: readonly BucketSocket[],
  { data, log, onExchange, commonPortOptions }: ServeSocketsOptions,
): Promise<{ close(): Promise<void> }> {
  const { limits, streams } = commonPortOptions;
  // All sockets together count as one port, so that they leave descriptors to the others.
  const ports = supervisorShare.ports * sockets.length;
  const share = { ...bucketListenOptions, streams, limits: divideLimits(limits, { processes: 1, ports }) };
  const open: HttpListener[] = [];
  const close = async () => {
    await Promise.all(open.map((listener) => listener.drain()));
  };
  try {
    for (const { path, bucket } of sockets) {
      const handler = createBucketCapability({ engine: data.engine, bucket, log, onExchange });
      open.push(
        await listenPrivately(handler, path, share).catch((error: unknown) => {
          throw socketError(error, path);
        }),
      );
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

/** Only this user may connect. The mask applies to the bind, so the socket is never open to others. */
function listenPrivately(
  handler: HttpHandler,
  path: string,
  options: Parameters<typeof listen>[2],
): Promise<HttpListener> {
  const mask = process.umask(0o177);
  try {
    return listen(handler, { path }, options);
  } finally {
    process.umask(mask);
  }
}

/** Removes the socket of a server that was killed. Refuses any other file. */
async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw socketError(error, path);
  });
  if (found === undefined) return checkFolder(path);
  const hint = "Choose another path, or remove the file: --bucket-socket PATH=BUCKET";
  if (!found.isSocket()) {
    throw new CommandError(`Cannot create the socket "${path}": the path exists and is not a socket.`, {
      hint,
    });
  }
  if (!(await isRefused(path))) {
    throw new CommandError(`Cannot create the socket "${path}": another process is using it.`, { hint });
  }
  await unlink(path);
}

/** For a missing folder, listening would fail with the code of a denied permission. */
async function checkFolder(path: string): Promise<void> {
  await stat(dirname(path)).catch((error: unknown) => {
    throw socketError(error, path);
  });
}

/** Whether no process listens on the socket. */
function isRefused(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      done(false);
    });
    socket.once("error", (error) => done(systemCode(error) === "ECONNREFUSED"));
  });
}

function socketError(error: unknown, path: string): CommandError {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "its folder does not exist",
    ENOTDIR: "its folder is not a folder",
    EACCES: "permission is denied",
    EADDRINUSE: "another process is using it",
  };
  const reason = reasons[systemCode(error) ?? ""] ?? errorMessage(error);
  return new CommandError(`Cannot create the socket "${path}": ${reason}.`, {
    hint: "Choose another path: --bucket-socket PATH=BUCKET",
  });
}
