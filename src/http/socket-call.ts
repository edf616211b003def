// Small requests to another process over a Unix socket, with the whole response in memory.
import { Buffer } from "node:buffer";
import { Agent, type ClientRequest, request as send } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** No process of Store sends more than two before a response. */
const maxInterim = 16;

/** Fails a request whose process sends interim responses without an end. */
export function limitInterim(outgoing: ClientRequest): void {
  let count = 0;
  outgoing.on("information", () => {
    if (++count > maxInterim) outgoing.destroy(new Error("The response does not start."));
  });
}

export interface SocketCall {
  readonly socketPath: string;
  readonly path: string;
  /** Sent with POST. Default: GET without a body. */
  readonly body?: string | undefined;
  /** A longer response is an error. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface SocketAnswer {
  readonly status: number;
  readonly text: string;
}

/** Rejects if there is no complete response. */
export function callSocket({ socketPath, path, body, maxBytes, signal }: SocketCall): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = send({
      ...{ agent, socketPath, path, signal },
      method: body === undefined ? "GET" : "POST",
      headers: {
        host: "localhost",
        ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
      },
    });
    outgoing.on("error", reject);
    limitInterim(outgoing);
    outgoing.once("response", (incoming) => {
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on("error", reject);
      incoming.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) incoming.destroy(new Error(`The response is longer than ${maxBytes} bytes.`));
        else chunks.push(chunk);
      });
      incoming.once("end", () =>
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    outgoing.end(body);
  });
}
