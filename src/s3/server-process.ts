// A process of the S3 API: its own engine, and its share of the connections to the port.
import { type Listening, listen } from "../http/listen.ts";
import { openEngine } from "../open.ts";
import { createCredentials } from "./credentials.ts";
import { S3Error } from "./errors.ts";
import { createS3Handler } from "./handler.ts";
import type { FromS3Process, OpenS3, ToS3Process } from "./server-messages.ts";
import { errorDocument } from "./xml.ts";

/** Sixteen of metadata, and as much again of everything else. */
const headerBytes = 64 * 1024;

let running: { readonly listening: Listening; close(): Promise<void> } | undefined;

function say(message: FromS3Process): void {
  if (process.connected) process.send!(message, undefined, undefined, () => {});
}

async function open({ location, host, port, domains, secretKey }: OpenS3): Promise<void> {
  const { engine, documents } = await openEngine(location);
  const handler = createS3Handler({
    engine,
    credentials: createCredentials(documents, Buffer.from(secretKey, "base64"), Date.now),
    domains,
    now: Date.now,
    log: (line) => say({ kind: "log", line }),
  });
  try {
    const listening = await listen(handler, { host, port }, { headerBytes, onMalformed });
    running = { listening, close: () => engine.close() };
    say({ kind: "listening", port: listening.port! });
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** What is no request never reaches the handler; its answer is of the same table. */
function onMalformed(status: number): { type: string; body: string } {
  const codes = { 408: "RequestTimeout", 431: "RequestHeaderSectionTooLarge" } as const;
  const { code, message } =
    status === 408 || status === 431
      ? new S3Error(codes[status])
      : new S3Error("BadRequest", { message: "The request is not valid HTTP." });
  return {
    type: "application/xml",
    body: errorDocument([
      ["Code", code],
      ["Message", message],
    ]),
  };
}

async function close(): Promise<void> {
  await running?.listening.drain();
  await running?.close();
  process.exit();
}

process.on("message", (message: ToS3Process) => {
  if (message.kind === "open") {
    open(message).catch((error: NodeJS.ErrnoException) => {
      say({ kind: "failed", message: error.message, code: error.code });
    });
  } else {
    close().catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  }
});
// The supervisor decides when it ends; a signal to the whole group reaches it too.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit());
process.on("uncaughtException", (error) => {
  say({ kind: "log", line: `A process of the S3 API failed: ${error.stack ?? error.message}` });
  process.exit(1);
});

say({ kind: "warm" });
