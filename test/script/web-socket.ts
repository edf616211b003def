// A real WebSocket client: Node's own, in a process of its own, because old versions need a flag.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

const flags = ["--experimental-websocket"].filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));

/** Reports each event as a line, and sends each line that it gets. */
const program = `
const [, url, ...protocols] = process.argv;
const socket = new WebSocket(url, protocols);
socket.binaryType = "arraybuffer";
const report = (event) => console.log(JSON.stringify(event));
socket.onopen = () => report({ kind: "open", protocol: socket.protocol });
socket.onmessage = ({ data }) =>
  report(typeof data === "string" ? { kind: "text", data } : { kind: "bytes", size: data.byteLength });
socket.onerror = () => report({ kind: "error" });
socket.onclose = ({ code, reason }) => { report({ kind: "close", code, reason }); process.exit(); };
require("node:readline").createInterface(process.stdin).on("line", (line) => {
  const { text, bytes, close } = JSON.parse(line);
  if (text !== undefined) socket.send(text);
  else if (bytes !== undefined) socket.send(new Uint8Array(bytes));
  else socket.close(close, "by the client");
});
`;

export type WebSocketEvent =
  | { readonly kind: "open"; readonly protocol: string }
  | { readonly kind: "text"; readonly data: string }
  | { readonly kind: "bytes"; readonly size: number }
  | { readonly kind: "error" }
  | { readonly kind: "close"; readonly code: number; readonly reason: string };

export interface TestWebSocket {
  send(message: { readonly text: string } | { readonly bytes: number } | { readonly close: number }): void;
  next(): Promise<WebSocketEvent>;
}

export function openWebSocket(
  t: Pick<TestContext, "after">,
  url: string,
  ...protocols: string[]
): TestWebSocket {
  const child = spawn(process.execPath, [...flags, "-e", program, url, ...protocols], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    async next() {
      const { value, done } = await lines.next();
      if (done) throw new Error("The client has ended.");
      return JSON.parse(value) as WebSocketEvent;
    },
  };
}
