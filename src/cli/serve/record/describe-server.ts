// Describes a running server for the record that it keeps in the store.
import type { TlsSource } from "../../../http/tls/tls.ts";
import type { ScriptServer } from "../../../script/supervisor/supervisor.ts";
import type { ServerMessage, ServerPort, ServerRecord } from "../../../servers/server-record.ts";
import { packageVersion } from "../../framework/package-root.ts";
import type { RunningConsole } from "../console/console.ts";
import { serverUrl } from "../listen-options.ts";
import type { Plan } from "../plan.ts";
import type { RunningPublic } from "../public.ts";
import type { RunningS3 } from "../s3.ts";
import { scriptBuckets } from "./known-scripts.ts";

export interface DescribedServer {
  readonly server: ScriptServer | undefined;
  readonly s3: RunningS3;
  readonly console: RunningConsole;
  readonly publicServer: RunningPublic;
  readonly tls: TlsSource | undefined;
  readonly plan: Pick<Plan, "mode" | "host"> & { readonly certificate: string | undefined };
  readonly requestLog: string | undefined;
  readonly messages: readonly ServerMessage[];
}

export function describeServer(
  described: DescribedServer,
): Omit<ServerRecord, "host" | "pid" | "node" | "started" | "seen"> {
  const { server, s3, console, publicServer, tls, plan, requestLog, messages } = described;
  const named: readonly [string, number | undefined][] = [
    ["scripts", server?.port],
    ["s3", s3.port],
    ["console", console.port],
    ["public", publicServer.port()],
  ];
  const ports = named.flatMap(([name, port]): ServerPort[] =>
    port === undefined ? [] : [{ name, url: serverUrl(plan.host, port, tls) }],
  );
  const scripts = server?.scripts ?? [];
  return {
    version: packageVersion(),
    mode: plan.mode,
    ports,
    ...(plan.certificate === undefined ? {} : { certificate: plan.certificate }),
    ...(requestLog === undefined ? {} : { requestLog }),
    scripts: scripts.map(({ config }) => config.name),
    bindings: scripts.map(({ config }) => scriptBuckets(config)),
    messages,
  };
}
