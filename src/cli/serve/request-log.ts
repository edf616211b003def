// Writes the request log to a file or to standard output. A file that was renamed or removed is
// created again, so that logrotate works without a signal.
import { type FileHandle, open, stat } from "node:fs/promises";
import { CommandError } from "../framework/command-error.ts";
import { fileError } from "../framework/failures.ts";

export interface RequestLog {
  /** Never rejects: lines that cannot be written are counted in `lost`, and logged once. */
  write(lines: string): Promise<void>;
  readonly lost: number;
  close(): Promise<void>;
}

/** Minimum time between checks for a rotated file. */
const checkMilliseconds = 1000;

export interface RequestLogOptions {
  /** "-" is standard output. */
  readonly path: string;
  readonly stdout: NodeJS.WritableStream;
  readonly log: (line: string) => void;
}

export async function openRequestLog({ path, stdout, log }: RequestLogOptions): Promise<RequestLog> {
  return path === "-" ? toStream(stdout) : toFile(path, log);
}

function toStream(stream: NodeJS.WritableStream): RequestLog {
  return {
    lost: 0,
    write: (lines) => new Promise((resolve) => stream.write(lines, () => resolve())),
    async close() {},
  };
}

async function toFile(path: string, log: (line: string) => void): Promise<RequestLog> {
  let handle: FileHandle = await openLogFile(path).catch((error: unknown) => {
    const failure = fileError(error, "write the request log", path);
    throw failure === error
      ? new CommandError(`Cannot write the request log "${path}".`, { cause: error })
      : failure;
  });
  let checkedAt = Date.now();
  let lost = 0;
  let isFailing = false;
  let isClosed = false;
  let last: Promise<void> = Promise.resolve();

  /** Opens the path again if its file was renamed or removed. */
  async function reopenIfRotated(): Promise<void> {
    if (Math.abs(Date.now() - checkedAt) < checkMilliseconds) return;
    checkedAt = Date.now();
    const [pathStats, handleStats] = await Promise.all([stat(path).catch(() => undefined), handle.stat()]);
    if (pathStats?.ino === handleStats.ino && pathStats.dev === handleStats.dev) return;
    const fresh = await openLogFile(path);
    await handle.close();
    handle = fresh;
  }

  async function append(lines: string): Promise<void> {
    try {
      await reopenIfRotated();
      await handle.appendFile(lines);
      isFailing = false;
    } catch (error) {
      lost += lines.split("\n").length - 1;
      if (!isFailing) log(`Cannot write the request log; requests are still served: ${String(error)}`);
      isFailing = true;
    }
  }

  return {
    get lost() {
      return lost;
    },
    write(lines) {
      if (isClosed) return last;
      last = last.then(() => append(lines));
      return last;
    },
    async close() {
      isClosed = true;
      await last;
      await handle.close();
    },
  };
}

function openLogFile(path: string): Promise<FileHandle> {
  // The log contains keys and client addresses, so only owner and group may read it.
  return open(path, "a", 0o640);
}
