// The writer's door for other processes: those of one server let one of them commit for all, so that their changes
// share a sync and nobody waits for a lock. A file in the data directory says where the door is; who finds it shut
// commits for itself.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createUnframer, frame } from "./frames.ts";
import type { Layout } from "./layout.ts";
import type { Reply, Request } from "./writer-messages.ts";

export interface WriterDoor {
  /** Nobody comes in any more, and who is in must go. */
  close(): void;
}

/** Sockets are not kept in the data directory: its path may be longer than a socket's may be. */
const folderPrefix = "store-writer-";

export function openWriterDoor(
  layout: Layout,
  onRequest: (request: Request, reply: (reply: Reply) => void) => void,
): WriterDoor {
  removeFolder(knownDoor(layout));
  const path = join(mkdtempSync(join(tmpdir(), folderPrefix)), "socket");
  const guests = new Set<Socket>();
  const server = createServer((guest) => {
    guests.add(guest);
    const reply = (reply: Reply) => {
      if (guest.writable) guest.write(frame(reply));
    };
    guest.on(
      "data",
      createUnframer<Request>((request) => onRequest(request, reply)),
    );
    // A guest that was killed is gone; what it asked for is done all the same.
    guest.on("error", () => guest.destroy());
    guest.on("close", () => guests.delete(guest));
  });
  // Without a door everybody commits for themselves.
  server.on("error", close);
  server.listen(path);
  writeFileSync(`${layout.writerDoor}.new`, path);
  renameSync(`${layout.writerDoor}.new`, layout.writerDoor);

  function close(): void {
    if (knownDoor(layout) === path) rmSync(layout.writerDoor, { force: true });
    server.close();
    for (const guest of guests) guest.destroy();
    removeFolder(path);
  }
  return { close };
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
