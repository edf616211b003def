// Hands connections to a process that may block or die at any moment: it takes each one before a deadline or
// never, and says so in the same turn. One that was not taken is still whole, and goes to another process.
import type { Socket } from "node:net";

export interface Handover {
  /** Whether the process has taken the connection; if not, it stays with the caller. */
  offer(socket: Socket): Promise<boolean>;
  /** The process has said whether it takes this one. */
  answered(id: number, isTaken: boolean): void;
}

/** How long a process may take to say yes: one that is busy takes longer at times than one that idles. */
const takeMilliseconds = 250;
/** For its word to come back, also that of a process which has ended meanwhile. */
const answerMilliseconds = 250;

/** The clock of the machine, which all its processes share. */
export function machineMilliseconds(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

export function createHandover(send: (id: number, deadline: number, socket: Socket) => void): Handover {
  const offers = new Map<number, (isTaken: boolean) => void>();
  let nextId = 1;

  function settle(id: number, isTaken: boolean): void {
    const settled = offers.get(id);
    offers.delete(id);
    settled?.(isTaken);
  }

  return {
    offer(socket) {
      const id = nextId++;
      return new Promise((resolve) => {
        const late = setTimeout(() => settle(id, false), takeMilliseconds + answerMilliseconds);
        offers.set(id, (isTaken) => {
          clearTimeout(late);
          resolve(isTaken);
        });
        send(id, machineMilliseconds() + takeMilliseconds, socket);
      });
    },
    answered: settle,
  };
}
