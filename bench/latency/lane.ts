// One connection of the load generator: one request at a time, with or without TLS and keep-alive.
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { createResponseParser, type ParsedResponse } from "./response-parser.ts";

export interface LaneTarget {
  readonly port: number;
  readonly isSecure: boolean;
  /** Without it, every request opens a connection of its own. */
  readonly isKept: boolean;
}

export interface Lane {
  /** Calls `onDone` with the response, or with undefined if the connection failed. */
  send(parts: readonly Uint8Array[], onDone: (response: ParsedResponse | undefined) => void): void;
  close(): void;
}

export function createLane({ port, isSecure, isKept }: LaneTarget): Lane {
  let socket: Socket | undefined;
  let finish: ((response: ParsedResponse | undefined) => void) | undefined;

  function open(): Socket {
    const host = "127.0.0.1";
    // The server's certificate is made for the run, so no authority knows it.
    const opened: Socket = isSecure
      ? connectTls({ port, host, rejectUnauthorized: false })
      : connect({ port, host, noDelay: true });
    const parse = createResponseParser();
    const done = (response: ParsedResponse | undefined) => {
      if (socket !== opened) return;
      if (response === undefined || response.isLast || !isKept) {
        socket = undefined;
        opened.destroy();
      }
      const call = finish;
      finish = undefined;
      call?.(response);
    };
    opened.on("error", () => done(undefined));
    opened.on("close", () => done(undefined));
    opened.on("data", (bytes: Buffer) => {
      const response = parse(bytes);
      if (response !== undefined) done(response);
    });
    return opened;
  }

  return {
    send(parts, onDone) {
      finish = onDone;
      socket ??= open();
      socket.cork();
      for (const part of parts) socket.write(part);
      socket.uncork();
    },
    close() {
      finish = undefined;
      const last = socket;
      socket = undefined;
      last?.destroy();
    },
  };
}
