// A process of the S3 API: its own engine, and connections that it accepts on the port that all of them share.

import { noteActs } from "../../audit/audit-log.ts";
import { connectParent, listenerDescriptor } from "../../child/parent.ts";
import { trustedPeers } from "../../http/server/forwarded.ts";
import { type Listening, listen } from "../../http/server/listen.ts";
import { openStreams } from "../../http/server/open-streams.ts";
import { plainRefusal, type RefusalStatus, type RefusalText } from "../../http/server/refusal.ts";
import { type ChangingTls, createTlsSource } from "../../http/tls/tls.ts";
import { tellProcess } from "../../metrics/process-metrics.ts";
import { createObserver, type Observer } from "../../metrics/reporter.ts";
import { openEngine } from "../../open.ts";
import { createCredentials } from "../auth/credentials.ts";
import { createUseTeller } from "../auth/key-usage.ts";
import { errorDocument } from "../body/xml-writer.ts";
import { S3Error } from "../errors.ts";
import { createS3Handler } from "../handler.ts";
import type { FromS3Process, OpenS3, ToS3Process } from "./messages.ts";

/** Sixteen of metadata, and as much again of everything else. */
const headerBytes = 64 * 1024;

const uses = createUseTeller((told) => say({ kind: "used", uses: told }), Date.now);
let tls: ChangingTls | undefined;
let observer: Observer | undefined;
let running: { readonly listening: Listening; close(): Promise<void> } | undefined;

function say(message: FromS3Process): void {
  parent.send(message);
}

async function open({
  location,
  domains,
  secretKey,
  observing,
  openUploads,
  ...entrance
}: OpenS3): Promise<void> {
  // Before anything that takes time: the pair may change meanwhile.
  tls = entrance.tls === undefined ? undefined : createTlsSource(entrance.tls);
  const trusted = entrance.trusted.length === 0 ? undefined : trustedPeers(entrance.trusted);
  observer = createObserver(observing, say);
  tellProcess(observer.metrics, "s3", openStreams);
  const { engine, documents, acts } = await openEngine(location, {
    ...{ metrics: observer.metrics, openUploads },
  });
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
  const { limits, probe } = entrance;
  const listening = await listen(
    handler,
    { fd: listenerDescriptor },
    { headerBytes, refusal, tls, trusted, limits, probe },
  );
  running = { listening, close: () => engine.close() };
  say({ kind: "ready" });
}

/** What never reaches the handler is refused from the same table of errors. */
const refusal: RefusalText = (status) => {
  const { code, message } = refusalError(status);
  return {
    type: "application/xml",
    body: errorDocument([
      ["Code", code],
      ["Message", message],
    ]),
  };
};

function refusalError(status: RefusalStatus): S3Error {
  const { body: message } = plainRefusal(status);
  if (status === 408) return new S3Error("RequestTimeout");
  if (status === 431) return new S3Error("RequestHeaderSectionTooLarge");
  if (status === 501) return new S3Error("NotImplemented", { message });
  if (status === 503) return new S3Error("SlowDown");
  return new S3Error("BadRequest", { message });
}

async function close(): Promise<void> {
  await running?.listening.drain();
  uses.flush();
  await running?.close();
  observer?.end();
  parent.leave();
}

const parent = connectParent<ToS3Process, FromS3Process>((message) => {
  if (message.kind === "open") {
    open(message).catch((error: NodeJS.ErrnoException) =>
      say({ kind: "failed", message: error.message, code: error.code }),
    );
  } else if (message.kind === "tls") {
    tls?.change(message.pair);
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
process.on("uncaughtException", (error) => {
  say({ kind: "log", line: `A process of the S3 API failed: ${error.stack ?? error.message}` });
  process.exit(1);
});

say({ kind: "warm" });
