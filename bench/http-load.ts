// Sends small requests over persistent connections. Raw sockets keep the cost of the client low.
import { connect } from "node:net";

export interface Load {
  readonly port: number;
  /** Lists of paths, one per connection; a connection cycles through its list. */
  readonly paths: readonly (readonly string[])[];
  readonly method?: "GET" | "PUT";
  readonly body?: Uint8Array;
  readonly connections: number;
  readonly seconds: number;
  /** Called after each response with its latency. */
  readonly onLatency?: ((milliseconds: number) => void) | undefined;
}

/** Returns responses per second. Rejects if a response is not a 200 with a Content-Length. */
export async function requestsPerSecond(load: Load): Promise<number> {
  const { port, paths, method = "GET", body, connections, seconds, onLatency } = load;
  const requestOf = (target: string) => {
    const length = body === undefined ? "" : `Content-Length: ${body.length}\r\n`;
    const head = `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${length}\r\n`;
    return Buffer.concat([Buffer.from(head), body ?? new Uint8Array()]);
  };
  const requests = paths.map((own) => own.map(requestOf));
  const begin = performance.now();
  const end = begin + seconds * 1000;
  const counts = await Promise.all(
    Array.from({ length: connections }, (_, i) =>
      oneConnection({
        ...{ port, requests: requests[i % requests.length]!, onLatency },
        goesOn: () => performance.now() < end,
      }),
    ),
  );
  const done = counts.reduce((sum, count) => sum + count, 0);
  return done / ((performance.now() - begin) / 1000);
}

interface ConnectionLoad extends Pick<Load, "port" | "onLatency"> {
  readonly requests: readonly Buffer[];
  readonly goesOn: () => boolean;
}

function oneConnection({ port, requests, goesOn, onLatency }: ConnectionLoad): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    let pending = "";
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(requests[count % requests.length]!);
    };
    const onBytes = (length: number, bytes: Uint8Array) => {
      pending += (bytes as Buffer).toString("latin1", 0, length);
      const head = pending.indexOf("\r\n\r\n");
      if (head === -1) return true;
      const declared = /content-length: (\d+)/i.exec(pending)?.[1];
      if (!pending.startsWith("HTTP/1.1 200") || declared === undefined) {
        socket.destroy();
        reject(new Error(`Cannot measure: the server answered ${pending.slice(0, 80)}`));
        return false;
      }
      if (pending.length < head + 4 + Number(declared)) return true;
      pending = "";
      count++;
      onLatency?.(performance.now() - sentAt);
      if (goesOn()) send();
      else socket.end(() => resolve(count));
      return true;
    };
    // One buffer for all reads: a new one for each would double the cost of the client.
    const onread = { buffer: Buffer.alloc(64 * 1024), callback: onBytes };
    const socket = connect({ port, host: "127.0.0.1", noDelay: true, onread }, send);
    socket.on("error", reject);
    // Has no effect after the last response, because the promise is already resolved.
    socket.on("close", () => reject(new Error("Cannot measure: the server has closed a connection")));
  });
}
