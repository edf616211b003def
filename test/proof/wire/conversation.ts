// One connection to a server: some bytes in random cuts, and all that comes back until the server ends it.
import { connect, type Socket } from "node:net";
import type { Random } from "../../support/random.ts";

/** A server that says nothing for this long waits for more: then the client ends, as one that went away. */
const quietMilliseconds = 300;
/** By then a server has closed what its client has ended. */
const patienceMilliseconds = 30_000;

export interface Conversation {
  readonly port: number;
  readonly text: string;
  readonly random: Random;
  /** The client neither goes on nor ends: it is the server that must. */
  readonly fallsSilent?: boolean;
}

export interface Said {
  readonly text: string;
  /** The client ended before the server did. */
  readonly wasLeft: boolean;
}

export function converse({ port, text, random, fallsSilent = false }: Conversation): Promise<Said> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  let found = "";
  let wasLeft = false;
  return new Promise((resolve, reject) => {
    const quiet = setTimeout(() => {
      wasLeft = true;
      socket.end();
    }, quietMilliseconds);
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the server keeps a connection that ${fallsSilent ? "fell silent" : "was ended"}`));
    }, patienceMilliseconds);
    if (fallsSilent) clearTimeout(quiet);
    socket.on("data", (piece) => {
      found += piece.toString("latin1");
      if (!fallsSilent) quiet.refresh();
    });
    // What the server has said before it closed counts, whatever became of what it did not read.
    socket.on("error", () => {});
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      clearTimeout(quiet);
      clearTimeout(late);
      resolve({ text: found, wasLeft });
    });
    socket.once("connect", () => writeInCuts(socket, Buffer.from(text, "latin1"), random));
  });
}

/** Each piece by itself, and the next when the one before is with the system. */
function writeInCuts(socket: Socket, bytes: Buffer, random: Random): void {
  const cuts = random.below(4);
  let at = 0;
  const next = () => {
    if (socket.destroyed || at >= bytes.length) return;
    const size = cuts === 0 ? bytes.length : 1 + random.below(Math.ceil(bytes.length / cuts));
    const piece = bytes.subarray(at, at + size);
    at += size;
    socket.write(piece, () => setImmediate(next));
  };
  next();
}
