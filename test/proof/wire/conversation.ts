// One connection to a server: sends bytes in random pieces and collects what the server answers.
import { connect, type Socket } from "node:net";
import type { Random } from "../../support/random.ts";

/** After this time without data, the server waits for input, and the client ends the connection. */
const quietMilliseconds = 300;
/** Time limit for the server to close a connection that the client has ended. */
const patienceMilliseconds = 30_000;

export interface Conversation {
  readonly port: number;
  readonly text: string;
  readonly random: Random;
  /** Whether the client stops sending without ending the connection: the server must close it. */
  readonly fallsSilent?: boolean;
}

export interface Said {
  readonly text: string;
  /** Whether the client ended the connection first. */
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
      reject(new Error(`the server keeps a connection that ${fallsSilent ? "is idle" : "was ended"}`));
    }, patienceMilliseconds);
    if (fallsSilent) clearTimeout(quiet);
    socket.on("data", (piece) => {
      found += piece.toString("latin1");
      if (!fallsSilent) quiet.refresh();
    });
    // Ignored: data received before the close counts even if the server did not read everything.
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

/** Writes each piece after the previous one was handed to the system. */
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
