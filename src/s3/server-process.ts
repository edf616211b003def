// A process of the S3 API: its own engine, and its share of the connections, which its supervisor hands over.
import type { Socket } from "node:net";
import { trustedPeers } from "../http/forwarded.ts";
import { machineMilliseconds } from "../http/handover.ts";
import { type Listening, listen } from "../http/listen.ts";
import { openStreams } from "../http/open-streams.ts";
import { type ChangingTls, createTlsSource } from "../http/tls.ts";
import { createObserver, type Observer } from "../metrics/observer.ts";
import { tellProcess } from "../metrics/process-figures.ts";
import { noteActs } from "../model/act.ts";
import { openEngine } from "../open.ts";
import { createCredentials } from "./credentials.ts";
import { S3Error } from "./errors.ts";
import { createS3Handler } from "./handler.ts";
import { createUseTeller } from "./key-uses.ts";
import type { FromS3Process, OpenS3, ToS3Process } from "./server-messages.ts";
import { errorDocument } from "./xml.ts";

/** Sixteen of metadata, and as much again of everything else. */
const headerBytes = 64 * 1024;

const uses = createUseTeller((told) => say({ kind: "used", uses: told }), Date.now);
let isClosing = false;
let tls: ChangingTls | undefined;
let observer: Observer | undefined;
let running: { readonly listening: Listening; close(): Promise<void> } | undefined;

function say(message: FromS3Process): void {
  if (process.connected) process.send!(message, undefined, undefined, () => {});
}

async function open({ location, domains, secretKey, observing, ...entrance }: OpenS3): Promise<void> {
  // Before anything that takes time: the pair may change meanwhile.
  tls = entrance.tls === undefined ? undefined : createTlsSource(entrance.tls);
  const trusted = entrance.trusted.length === 0 ? undefined : trustedPeers(entrance.trusted);
  observer = createObserver(observing, say);
  tellProcess(observer.metrics, "s3", openStreams);
  const { engine, documents, acts } = await openEngine(location, { metrics: observer.metrics });
  const handler = createS3Handler({
    engine,
    credentials: createCredentials(documents, Buffer.from(secretKey, "base64"), Date.now),
    domains,
    now: Date.now,
    used: uses.used,
    log: (line) => say({ kind: "log", line }),
    noteAct: noteActs(acts, Date.now, (line) => say({ kind: "log", line })),
    onExchange: observer.onExchange,
  });
  const listening = await listen(handler, "handed over", {
    ...{ headerBytes, onMalformed, tls, trusted },
  });
  running = { listening, close: () => engine.close() };
  say({ kind: "ready" });
}

function take(id: number, deadline: number, socket: Socket | undefined): void {
  const isTaken =
    running !== undefined && !isClosing && socket !== undefined && machineMilliseconds() <= deadline;
  say({ kind: "connection", id, isTaken });
  if (isTaken) running!.listening.accept(socket);
  // The supervisor has it, too: this closes our end of it only.
  else socket?.destroy();
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
  isClosing = true;
  await running?.listening.drain();
  uses.flush();
  await running?.close();
  observer?.end();
  // Behind what was said; what follows is the end.
  if (process.connected) process.disconnect();
}

process.on("message", (message: ToS3Process, socket?: Socket) => {
  if (message.kind === "open") {
    open(message).catch((error: Error) => say({ kind: "failed", message: error.message }));
  } else if (message.kind === "tls") {
    tls?.change(message.pair);
  } else if (message.kind === "connection") {
    take(message.id, message.deadline, socket);
  } else if (message.kind !== "close") {
    observer?.heard(message);
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
