// A client that sends a large body to a server that may respond before it reads the body.
import { once } from "node:events";
import { connect, type NetConnectOpts } from "node:net";

export interface Upload {
  readonly framing: "length" | "chunked";
  /** With "wait", the body is sent after status 100; with "send", at once. */
  readonly expect?: "wait" | "send" | undefined;
  readonly connection?: "close" | "keep-alive";
  readonly path?: string;
  readonly bytes?: number;
}

/** All kinds of uploads that differ for the server. */
export const uploads: readonly Upload[] = (["length", "chunked"] as const).flatMap((framing) =>
  (["wait", "send", undefined] as const).flatMap((expect) =>
    (["close", "keep-alive"] as const).map((connection) => ({ framing, expect, connection })),
  ),
);

export function describeUpload({ framing, expect, connection }: Upload): string {
  return `${framing}, expect: ${expect ?? "nothing"}, ${connection ?? "keep-alive"}`;
}

/** Sends all of the body, whatever arrives meanwhile; returns the final response. */
export async function upload(address: NetConnectOpts, upload: Upload): Promise<string> {
  const { framing, expect, connection = "keep-alive", path = "/", bytes = 3_000_000 } = upload;
  const socket = connect(address);
  let received = "";
  let isOver = false;
  let isClosed = false;
  const changed = () => once(socket, "change");
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    received += text;
    isOver = isComplete(received);
    socket.emit("change");
  });
  const onClosed = () => {
    isOver = true;
    isClosed = true;
    socket.emit("change");
  };
  socket.on("error", onClosed).on("close", onClosed);
  const head = [`PUT ${path} HTTP/1.1`, "Host: a", `Connection: ${connection}`];
  if (expect !== undefined) head.push("Expect: 100-continue");
  head.push(framing === "length" ? `Content-Length: ${bytes}` : "Transfer-Encoding: chunked");
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  while (expect === "wait" && !isOver && !received.startsWith("HTTP/1.1 100")) await changed();
  if (expect === "wait" && !received.startsWith("HTTP/1.1 100")) isClosed = true;
  const chunk = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < bytes && !isClosed; sent += chunk.length) {
    const part = chunk.subarray(0, Math.min(chunk.length, bytes - sent));
    if (framing === "chunked") socket.write(`${part.length.toString(16)}\r\n`);
    const isFlushed = socket.write(part);
    if (framing === "chunked") socket.write("\r\n");
    if (!isFlushed) await Promise.race([once(socket, "drain"), changed()]).catch(() => {});
  }
  if (framing === "chunked" && !isClosed) socket.write("0\r\n\r\n");
  while (!isOver) await changed();
  socket.destroy();
  return received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "");
}

function isComplete(received: string): boolean {
  const text = received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, "");
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))?.[1];
  return length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= end + 4 + Number(length);
}
