// Divides the descriptors of a process among scripts: each may hold as many connections as are still
// free. One script gets at most half of them, two a third each, and some are always left for others.
import { defaultPortLimits, divideLimits, type LimitShare } from "../http/server/limits.ts";
import type { ConnectionShare } from "../http/server/listen.ts";

export interface FairConnections {
  /** Returns the share of a script, for all of its sockets and processes together. */
  share(script: string): ConnectionShare;
}

/** Limits of a socket, if the script has not used up its share: room for the requests in flight. */
export const scriptSocketLimits = {
  ...defaultPortLimits,
  ...{ connections: 512, connectionsPerAddress: 512, requests: 256 },
};

/** `descriptors` is the limit of the process, of which it uses `among` for connections of scripts. */
export function createFairConnections(descriptors: number, among: LimitShare): FairConnections {
  const limits = { ...defaultPortLimits, connections: Number.POSITIVE_INFINITY, descriptors };
  const { connections } = divideLimits(limits, among);
  const held = new Map<string, number>();
  let open = 0;

  function end(script: string): void {
    open--;
    const left = held.get(script)! - 1;
    if (left > 0) held.set(script, left);
    else held.delete(script);
  }

  return {
    share: (script) => ({
      begin() {
        const own = held.get(script) ?? 0;
        if (own >= connections - open) return undefined;
        held.set(script, own + 1);
        open++;
        return () => end(script);
      },
    }),
  };
}
