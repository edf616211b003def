// Starts the server for public buckets: its options, port and domains.

import type { PortOptions } from "../../http/port-options.ts";
import type { PortAddress } from "../../http/server/shared-listener.ts";
import type { Exchange } from "../../metrics/exchange.ts";
import { errorMessage } from "../../model/errors.ts";
import type { ServerNames } from "../../model/settings/publication.ts";
import { startPublic } from "../../public/server.ts";
import type { Mode } from "../../script/context.ts";
import type { Invocation, Option } from "../framework/command.ts";
import type { Data } from "../store/open-store.ts";
import { listenError, portOption, portTakenNote, serverUrl } from "./listen-options.ts";
import type { Plan } from "./plan.ts";

export const publicOptions: Readonly<Record<string, Option>> = {
  "public-port": {
    value: "PORT",
    summary: "port of public buckets, opened once a bucket is public; default: 9002; 0 picks a free port",
  },
  "public-domain": {
    value: "NAME",
    summary: "base domain for public buckets: files.example.com serves photos.files.example.com",
    repeatable: true,
  },
};

export interface PublicSettings extends PortAddress {
  readonly isGiven: boolean;
  readonly domains: readonly string[];
}

export function publicSettings(invocation: Invocation, mode: Mode): PublicSettings {
  return {
    ...portOption(invocation, { option: "public-port", port: 9002, mode }),
    isGiven: invocation.options.text("public-port") !== undefined,
    domains: ["localhost", ...invocation.options.texts("public-domain").map((name) => name.toLowerCase())],
  };
}

/** Names of the server, which no bucket can have as its domain. */
export function serverNames(plan: Pick<Plan, "host" | "s3" | "console" | "public">): ServerNames {
  const urls = [plan.s3.endpoint, plan.console.url].flatMap((url) => (url === undefined ? [] : [url]));
  const names = [plan.host, ...urls.map((url) => new URL(url).hostname)];
  return {
    names: names.map((name) => name.toLowerCase()),
    bases: [...new Set([...plan.public.domains, ...plan.s3.domains])],
  };
}

export interface RunningPublic {
  /** Undefined while no bucket is public. */
  readonly url: string | undefined;
  /** Undefined while the port is closed. */
  port(): number | undefined;
  close(): Promise<void>;
}

export interface ServePublicOptions {
  readonly data: Data;
  readonly log: (line: string) => void;
  readonly onExchange: ((exchange: Exchange) => void) | undefined;
  readonly commonPortOptions: PortOptions;
  readonly serverNames: ServerNames;
}

export async function servePublic(
  { host, port, whenTaken, isGiven }: PublicSettings,
  { data, log, onExchange, commonPortOptions, serverNames }: ServePublicOptions,
): Promise<RunningPublic> {
  const toListenError = (error: unknown) => listenError(error, { host, port, option: "public-port" });
  const server = await startPublic({
    ...{
      engine: data.engine,
      documents: data.documents,
      host,
      port,
      whenTaken,
      serverNames,
      log,
      onExchange,
    },
    ...commonPortOptions,
    opens: isGiven ? "at once" : "when a bucket is public",
    onOpened: (opened) => {
      log(
        `Public buckets on ${serverUrl(host, opened, commonPortOptions.tls)}${portTakenNote({ port }, opened)}`,
      );
    },
    describeError(error) {
      const words = toListenError(error);
      return `Public buckets are not served: ${errorMessage(words)}`;
    },
  }).catch((error: unknown) => {
    throw toListenError(error);
  });
  const url = server.port === undefined ? undefined : serverUrl(host, server.port, commonPortOptions.tls);
  return { url, port: () => server.port, close: () => server.close() };
}
