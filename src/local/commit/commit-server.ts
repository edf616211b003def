// Commits for other processes over a socket, so that their changes share a sync and no process
// waits for a lock. A process that cannot connect commits by itself.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { errorMessage } from "../../model/errors.ts";
import type { Layout } from "../disk/layout.ts";
import { privateFile } from "../disk/private-files.ts";
import { createFrameDecoder, encodeFrame, type FrameDecoder, maxFrameBytes } from "./framing.ts";
import { type ClientRequest, readRequest } from "./message-shapes.ts";
import type { Reply } from "./messages.ts";

export interface CommitServer {
  /** Refuses new connections and closes the open ones. */
  close(): void;
}

/** Prefix of the socket's folder. A path in the data directory may be too long for a socket. */
const folderPrefix = "store-writer-";

/** Maximum number of clients, far more than a server and concurrent commands need. */
const maxClients = 128;
/** Maximum number of buffered bytes of incomplete messages, for all clients together. */
const maxBufferedBytes = 4 * maxFrameBytes;
/** Maximum number of reply bytes that a client has not read yet. */
const maxUnreadBytes = 8 * 1024 * 1024;
/** Maximum number of unanswered requests of a client. At this limit, reading from it is paused. */
const maxUnanswered = 1024;

export function openCommitServer(
  layout: Layout,
  onRequest: (request: ClientRequest, reply: (reply: Reply) => void) => void,
): CommitServer {
  removeFolder(readSocketPath(layout));
  const path = join(mkdtempSync(join(tmpdir(), folderPrefix)), "socket");
  const clients = new Map<Socket, FrameDecoder>();

  function totalBufferedBytes(): number {
    let bytes = 0;
    for (const { bufferedBytes } of clients.values()) bytes += bufferedBytes;
    return bytes;
  }

  function receive(client: Socket): void {
    let unanswered = 0;
    const reply = (reply: Reply) => {
      if (--unanswered < maxUnanswered && client.isPaused()) client.resume();
      if (!client.writable) return;
      client.write(encodeFrame(reply));
      if (client.writableLength > maxUnreadBytes) disconnect(client, "it does not read the replies");
    };
    const decoder = createFrameDecoder((message) => {
      const request = readRequest(message);
      if (++unanswered >= maxUnanswered) client.pause();
      onRequest(request, reply);
    });
    clients.set(client, decoder);
    client.on("data", (chunk) => {
      if (client.destroyed) return;
      try {
        decoder.push(chunk);
      } catch (error) {
        return disconnect(client, `it sent ${errorMessage(error)}`);
      }
      if (totalBufferedBytes() > maxBufferedBytes) disconnect(client, "too much is being sent at once");
    });
    // The client was killed. Its pending requests are still carried out.
    client.on("error", () => client.destroy());
    client.on("close", () => clients.delete(client));
  }

  const server = createServer(receive);
  server.maxConnections = maxClients;
  // Without a commit server, every process commits by itself.
  server.on("error", close);
  server.on("drop", () => warn(`more than ${maxClients} processes want to commit through this one`));
  server.listen(path);
  writeFileSync(`${layout.commitServerFile}.new`, path, { mode: privateFile });
  renameSync(`${layout.commitServerFile}.new`, layout.commitServerFile);

  function close(): void {
    if (readSocketPath(layout) === path) rmSync(layout.commitServerFile, { force: true });
    server.close();
    for (const client of clients.keys()) client.destroy();
    removeFolder(path);
  }
  return { close };
}

/** Closes only this connection. The client notices and commits by itself. */
function disconnect(client: Socket, why: string): void {
  client.destroy();
  warn(`the connection of a process that commits through this one was closed, because ${why}`);
}

function warn(what: string): void {
  process.emitWarning(`${what[0]!.toUpperCase()}${what.slice(1)}.`, "StoreWarning");
}

/** Returns the socket's path, which is stale if the process that opened the socket was killed. */
export function readSocketPath(layout: Layout): string | undefined {
  try {
    return readFileSync(layout.commitServerFile, "utf8");
  } catch {
    return undefined;
  }
}

function removeFolder(socketPath: string | undefined): void {
  if (socketPath === undefined) return;
  const folder = dirname(socketPath);
  if (dirname(folder) === tmpdir() && folder.includes(folderPrefix)) {
    rmSync(folder, { recursive: true, force: true });
  }
}
