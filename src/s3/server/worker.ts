// A worker process of the S3 API: opens its own engine and accepts connections on the shared port.

import { createCredentials } from "../../access/keys/credentials.ts";
import { createUseReporter } from "../../access/keys/key-usage.ts";
import { createRoles } from "../../access/temporary/roles.ts";
import { createAuditAggregator } from "../../audit/aggregate.ts";
import { createAuditRecorder } from "../../audit/recorder.ts";
import { connectParent, listenerDescriptor } from "../../child/parent.ts";
import { createNotificationRules } from "../../events/rules.ts";
import { parseTrustedPeers } from "../../http/server/forwarded.ts";
import { type HttpListener, listen } from "../../http/server/listen.ts";
import { createOpenStreams } from "../../http/server/listener-state.ts";
import { createTlsSource, type MutableTlsSource } from "../../http/tls/tls.ts";
import { registerProcessMetrics } from "../../metrics/process-metrics.ts";
import { createObserver, type Observer } from "../../metrics/reporter.ts";
import { openEngine } from "../../open.ts";
import { createS3Handler } from "../handler.ts";
import type { FromS3Process, OpenS3, ToS3Process } from "./messages.ts";
import { s3PortOptions } from "./port.ts";

const uses = createUseReporter((newUses) => sendToParent({ kind: "used", uses: newUses }), Date.now);
let tls: MutableTlsSource | undefined;
let observer: Observer | undefined;
let running: { readonly listening: HttpListener; close(): Promise<void> } | undefined;

function sendToParent(message: FromS3Process): void {
  parent.send(message);
}

async function open(messageOptions: OpenS3): Promise<void> {
  const { location, domains, secretKey: keyText, observing, ...others } = messageOptions;
  const { openUploads, encryption, blocksPublicAccess, region, processes, ...portOptions } = others;
  const secretKey = Buffer.from(keyText, "base64");
  // Create the source before any await: a "tls" message may arrive meanwhile.
  tls = portOptions.tls === undefined ? undefined : createTlsSource(portOptions.tls);
  const trusted = portOptions.trusted.length === 0 ? undefined : parseTrustedPeers(portOptions.trusted);
  observer = createObserver(observing, sendToParent);
  const streams = createOpenStreams();
  registerProcessMetrics(observer.metrics, "s3", streams);
  const { engine, documents, auditLog } = await openEngine(location, {
    ...{ metrics: observer.metrics, openUploads, secretKey, encryption },
  });
  const log = (line: string) => sendToParent({ kind: "log", line });
  const audit = createAuditRecorder({ log: auditLog, now: Date.now, warn: log });
  const auditAggregator = createAuditAggregator({ record: audit.record });
  const handler = createS3Handler({
    engine,
    credentials: createCredentials(documents, secretKey, Date.now),
    roles: createRoles(documents, () => secretKey, Date.now),
    notifications: createNotificationRules({ engine, documents, secretKey: () => secretKey }),
    blocksPublicAccess,
    region,
    domains,
    now: Date.now,
    processes,
    onKeyUsed: uses.record,
    log,
    recordAudit: audit.record,
    auditAggregator,
    onExchange: observer.onExchange,
  });
  const { limits, probe } = portOptions;
  const listening = await listen(
    handler,
    { fd: listenerDescriptor },
    { ...s3PortOptions, tls, trusted, limits, probe, streams },
  );
  const closeEngine = async () => {
    await auditAggregator.flush();
    await audit.flush();
    await engine.close();
  };
  running = { listening, close: closeEngine };
  sendToParent({ kind: "ready" });
}

async function close(): Promise<void> {
  await running?.listening.drain();
  uses.flush();
  await running?.close();
  observer?.end();
  parent.exit();
}

const parent = connectParent<ToS3Process, FromS3Process>((message) => {
  if (message.kind === "open") {
    open(message).catch((error: NodeJS.ErrnoException) =>
      sendToParent({ kind: "failed", message: error.message, code: error.code }),
    );
  } else if (message.kind === "tls") {
    tls?.change(message.pair);
  } else if (message.kind !== "close") {
    observer?.receive(message);
  } else {
    close().catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  }
});
// Ignore signals to the process group, such as Ctrl-C: the supervisor ends this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("uncaughtException", (error) => {
  sendToParent({ kind: "log", line: `A process of the S3 API failed: ${error.stack ?? error.message}` });
  process.exit(1);
});

sendToParent({ kind: "warm" });
