// Sends and receives large bodies on one kept connection, with or without TLS, at little cost.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { MiB, sameCount } from "../section.ts";
import type { EncodedPut } from "./body-forms.ts";

export interface BodyClient {
  put(request: EncodedPut): Promise<void>;
  /** Reads the response to the end and checks its length. */
  get(path: string, bytes: number): Promise<void>;
  close(): void;
}

export async function openBodyClient(url: string): Promise<BodyClient> {
  const { protocol, port: portText, host } = new URL(url);
  const port = Number(portText);
  // The server's certificate is made for the run, so no authority knows it.
  const socket: Socket =
    protocol === "https:"
      ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
      : connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, protocol === "https:" ? "secureConnect" : "connect");
  return {
    async put({ head, body }) {
      const response = readResponse(socket);
      socket.write(head);
      for (let at = 0; at < body.length; at += MiB) {
        if (!socket.write(body.subarray(at, at + MiB))) await Promise.race([once(socket, "drain"), response]);
      }
      await response;
    },
    async get(path, bytes) {
      const response = readResponse(socket);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      sameCount(await response, bytes, "bytes");
    },
    close: () => socket.destroy(),
  };
}

/** Resolves with the length of the body. Rejects if the response is not a 200. */
function readResponse(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let head = "";
    let expected: number | undefined;
    let seen = 0;
    const end = (settle: () => void) => {
      socket.off("data", onData);
      socket.off("close", onClose);
      settle();
    };
    const onClose = () => end(() => reject(new Error("Cannot measure: the server closed the connection")));
    const onData = (bytes: Buffer) => {
      let from = 0;
      if (expected === undefined) {
        const before = head.length;
        head += bytes.toString("latin1");
        const at = head.indexOf("\r\n\r\n");
        if (at === -1) return;
        from = at + 4 - before;
        const length = /^content-length: (\d+)/im.exec(head)?.[1];
        if (!head.startsWith("HTTP/1.1 200") || length === undefined) {
          end(() => reject(new Error(`Cannot measure: the server answered ${head.slice(0, 300)}`)));
          return;
        }
        expected = Number(length);
      }
      seen += bytes.length - from;
      if (seen >= expected) end(() => resolve(seen));
    };
    socket.on("data", onData);
    socket.on("close", onClose);
  });
}
