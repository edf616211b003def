// Starts the console: its options, its port, and the sign-in token of `store dev`.

import { join } from "node:path";
import { createAuditRecorder } from "../../audit/audit-log.ts";
import type { ConsoleMetrics } from "../../console/api/metrics.ts";
import type { ConsoleScripts } from "../../console/api/scripts.ts";
import { newToken } from "../../console/auth/tokens.ts";
import type { MonitoringSources } from "../../console/monitoring.ts";
import { startConsole } from "../../console/server.ts";
import type { Exchange } from "../../metrics/exchange.ts";
import type { Mode } from "../../script/context.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { packageRoot } from "../framework/package-root.ts";
import type { Data } from "../store/open-store.ts";
import { consoleKeys } from "./console-keys.ts";
import {
  type CommonPortOptions,
  endpointOption,
  hostOption,
  listenError,
  type PortSetting,
  portOption,
  serverUrl,
} from "./listen-options.ts";
import type { RunningS3 } from "./s3.ts";

export const consoleOptions: Readonly<Record<string, Option>> = {
  "console-port": {
    value: "PORT",
    summary: "port of the console; default: 9001; 0 picks a free port",
  },
  "console-url": { value: "URL", summary: "public URL of the console, for example behind a proxy" },
};

export interface RunningConsole {
  readonly port: number;
  readonly url: string;
  /** Sign-in token that is valid until this server stops; undefined except in dev mode. */
  readonly token: string | undefined;
  close(): Promise<void>;
}

/** Parsed options of the console. They are validated before any port or store is opened. */
export interface ConsoleSettings extends PortSetting {
  readonly host: string;
  readonly url: string | undefined;
}

export function consoleSettings(invocation: Invocation, mode: Mode): ConsoleSettings {
  return {
    host: hostOption(invocation),
    ...portOption(invocation, { option: "console-port", port: 9001, mode }),
    url: endpointOption(invocation, "console-url"),
  };
}

export interface ServeConsoleOptions {
  readonly data: Data;
  readonly mode: Mode;
  readonly log: (line: string) => void;
  readonly monitoring: MonitoringSources;
  readonly metrics: ConsoleMetrics;
  readonly onExchange: ((exchange: Exchange) => void) | undefined;
  readonly commonPortOptions: CommonPortOptions;
  readonly s3: RunningS3;
  readonly scripts: ConsoleScripts;
}

export async function serveConsole(
  { host, port, whenTaken, url }: ConsoleSettings,
  { data, mode, s3, commonPortOptions, ...given }: ServeConsoleOptions,
): Promise<RunningConsole> {
  const own = mode === "dev" ? newToken() : undefined;
  const server = await startConsole({
    ...{
      engine: data.engine,
      documents: data.documents,
      host,
      port,
      whenTaken,
      url,
      ...given,
      ...commonPortOptions,
    },
    recordAudit: createAuditRecorder(data.auditLog, Date.now, given.log),
    keys: consoleKeys(data, s3.uses),
    pageFolder: join(packageRoot(), "src/console/page"),
    ownToken: own?.hash,
    s3: s3.presign,
  }).catch((error: unknown) => {
    throw listenError(error, { host, port, option: "console-port" });
  });
  return {
    port: server.port,
    url: url ?? serverUrl(host, server.port, commonPortOptions.tls),
    token: own?.token,
    close: () => server.close(),
  };
}
