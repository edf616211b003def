// Starts the console: its options, its port, and the sign-in token of `store dev`.
import { join } from "node:path";
import { createAuditRecorder } from "../../../audit/recorder.ts";
import type { ProviderOptions } from "../../../console/auth/providers.ts";
import { newToken } from "../../../console/auth/tokens.ts";
import { type ConsoleOptions, type ConsoleServer, startConsole } from "../../../console/server.ts";
import type { WebhookClient } from "../../../events/webhook-client.ts";
import type { PortOptions } from "../../../http/port-options.ts";
import type { PortAddress } from "../../../http/server/shared-listener.ts";
import type { ServerNames } from "../../../model/settings/publication.ts";
import type { Mode } from "../../../script/context.ts";
import type { Invocation, Option } from "../../framework/command.ts";
import { packageRoot } from "../../framework/package-root.ts";
import type { Data } from "../../store/open-store.ts";
import { endpointOption, listenError, portOption, serverUrl } from "../listen-options.ts";
import { providerOption, providerSettings } from "../oidc/providers.ts";
import type { RunningS3 } from "../s3.ts";
import { consoleBuckets } from "./buckets.ts";
import { consoleKeys } from "./keys.ts";

export const consoleOptions: Readonly<Record<string, Option>> = {
  "console-port": { value: "PORT", summary: "port of the console; default: 9001; 0 picks a free port" },
  "console-url": { value: "URL", summary: "public URL of the console, for example behind a proxy" },
  ...providerOption,
};

export interface RunningConsole extends ConsoleServer {
  readonly url: string;
  /** Sign-in token that is valid until this server stops; undefined except in dev mode. */
  readonly token: string | undefined;
}

/** Parsed options. An invalid option throws before anything is opened. */
export interface ConsoleSettings extends PortAddress {
  readonly url: string | undefined;
  readonly providers: readonly ProviderOptions[];
}

export function consoleSettings(invocation: Invocation, mode: Mode): ConsoleSettings {
  return {
    ...portOption(invocation, { option: "console-port", port: 9001, mode }),
    url: endpointOption(invocation, "console-url"),
    providers: providerSettings(invocation),
  };
}

export interface ServeConsoleOptions
  extends Pick<ConsoleOptions, "log" | "monitoring" | "metrics" | "onExchange" | "scripts" | "status"> {
  readonly data: Data;
  readonly mode: Mode;
  readonly commonPortOptions: PortOptions;
  readonly s3: RunningS3;
  /** Port of public buckets; undefined while it is closed. */
  readonly publicPort: () => number | undefined;
  readonly serverNames: ServerNames;
  readonly webhooks: WebhookClient;
}

export async function serveConsole(
  { host, port, whenTaken, url, providers }: ConsoleSettings,
  { data, mode, s3, publicPort, serverNames, webhooks, commonPortOptions, ...given }: ServeConsoleOptions,
): Promise<RunningConsole> {
  const own = mode === "dev" ? newToken() : undefined;
  const audit = createAuditRecorder({ log: data.auditLog, now: Date.now, warn: given.log });
  const server = await startConsole({
    ...{
      engine: data.engine,
      documents: data.documents,
      host,
      port,
      whenTaken,
      url,
      providers,
      ...given,
      ...commonPortOptions,
    },
    recordAudit: audit.record,
    audit: data.auditLog,
    keys: consoleKeys(data, s3.uses),
    buckets: consoleBuckets({ data, publicPort, serverNames, webhooks }),
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
    async close() {
      await server.close();
      await audit.flush();
    },
  };
}
