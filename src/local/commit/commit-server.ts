// The writer's door for other processes: those of one server let one of them commit for all, so that their changes
// share a sync and nobody waits for a lock. A file in the data directory says where the door is; who finds it shut
// commits for itself.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Layout } from "../disk/layout.ts";
import { privateFile } from "../disk/private-files.ts";
import { createUnframer, frame, mostFrameBytes, type Unframer } from "./framing.ts";
import { type GuestRequest, readRequest } from "./message-shapes.ts";
import type { Reply } from "./messages.ts";

export interface WriterDoor {
  /** Nobody comes in any more, and who is in must go. */
  close(): void;
}

/** Sockets are not kept in the data directory: its path may be longer than a socket's may be. */
const folderPrefix = "store-writer-";

/** Processes of a server, and commands beside it: far fewer than these. */
const mostGuests = 128;
/** Bytes of unfinished messages, of all guests together. */
const mostWaitingBytes = 4 * mostFrameBytes;
/** Replies that a guest does not read. */
const mostUnreadBytes = 8 * 1024 * 1024;
/** A guest that has asked for so much waits for replies before more is read from it. */
const mostUnanswered = 1024;

export function openWriterDoor(
  layout: Layout,
  onRequest: (request: GuestRequest, reply: (reply: Reply) => void) => void,
): WriterDoor {
  removeFolder(knownDoor(layout));
  const path = join(mkdtempSync(join(tmpdir(), folderPrefix)), "socket");
  const guests = new Map<Socket, Unframer>();

  function waitingBytes(): number {
    let bytes = 0;
    for (const { waiting } of guests.values()) bytes += waiting;
    return bytes;
  }

  function receive(guest: Socket): void {
    let unanswered = 0;
    const reply = (reply: Reply) => {
      if (--unanswered < mostUnanswered && guest.isPaused()) guest.resume();
      if (!guest.writable) return;
      guest.write(frame(reply));
      if (guest.writableLength > mostUnreadBytes) refuse(guest, "it does not read the replies");
    };
    const unframer = createUnframer((message) => {
      const request = readRequest(message);
      if (++unanswered >= mostUnanswered) guest.pause();
      onRequest(request, reply);
    });
    guests.set(guest, unframer);
    guest.on("data", (chunk) => {
      if (guest.destroyed) return;
      try {
        unframer.take(chunk);
      } catch (error) {
        return refuse(guest, `it sent ${error instanceof Error ? error.message : String(error)}`);
      }
      if (waitingBytes() > mostWaitingBytes) refuse(guest, "too much is being sent at once");
    });
    // A guest that was killed is gone; what it asked for is done all the same.
    guest.on("error", () => guest.destroy());
    guest.on("close", () => guests.delete(guest));
  }

  const server = createServer(receive);
  server.maxConnections = mostGuests;
  // Without a door everybody commits for themselves.
  server.on("error", close);
  server.on("drop", () => warn(`more than ${mostGuests} processes want to commit through this one`));
  server.listen(path);
  writeFileSync(`${layout.writerDoor}.new`, path, { mode: privateFile });
  renameSync(`${layout.writerDoor}.new`, layout.writerDoor);

  function close(): void {
    if (knownDoor(layout) === path) rmSync(layout.writerDoor, { force: true });
    server.close();
    for (const guest of guests.keys()) guest.destroy();
    removeFolder(path);
  }
  return { close };
}

/** That connection alone ends: the process at its other end finds out, and commits for itself. */
function refuse(guest: Socket, why: string): void {
  guest.destroy();
  warn(`the connection of a process that commits through this one was closed, because ${why}`);
}

function warn(what: string): void {
  process.emitWarning(`${what[0]!.toUpperCase()}${what.slice(1)}.`, "StoreWarning");
}

/** Where the door is, or was: whoever opened it may have been killed. */
export function knownDoor(layout: Layout): string | undefined {
  try {
    return readFileSync(layout.writerDoor, "utf8");
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
