// A load of small requests over kept connections: raw sockets, so that the client costs little beside the server.
import { connect } from "node:net";

export interface Load {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Requests answered a second; rejects when an answer is not a 200 with a length. */
export async function requestsPerSecond({ port, path, connections, seconds }: Load): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const begin = performance.now();
  const end = begin + seconds * 1000;
  const counts = await Promise.all(
    Array.from({ length: connections }, () => oneConnection(port, request, () => performance.now() < end)),
  );
  const done = counts.reduce((sum, count) => sum + count, 0);
  return done / ((performance.now() - begin) / 1000);
}

function oneConnection(port: number, request: string, goesOn: () => boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    let pending = "";
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => socket.write(request));
    socket.setEncoding("latin1");
    socket.on("error", reject);
    socket.on("data", (text: string) => {
      pending += text;
      const head = pending.indexOf("\r\n\r\n");
      if (head === -1) return;
      const length = /^content-length: (\d+)/im.exec(pending)?.[1];
      if (!pending.startsWith("HTTP/1.1 200") || length === undefined) {
        socket.destroy();
        reject(new Error(`Cannot measure: the server answered ${pending.slice(0, 80)}`));
        return;
      }
      if (pending.length < head + 4 + Number(length)) return;
      pending = "";
      count++;
      if (goesOn()) socket.write(request);
      else socket.end(() => resolve(count));
    });
  });
}
