// Lists the open ports that the readiness check probes.
import type { ScriptServer } from "../../script/supervisor/supervisor.ts";
import type { RunningPublic } from "./public.ts";
import type { NamedPort } from "./readiness.ts";
import type { RunningS3 } from "./s3.ts";

export interface OpenServers {
  readonly host: string;
  readonly s3: RunningS3;
  readonly server: ScriptServer | undefined;
  readonly publicServer: RunningPublic | undefined;
  readonly isSecure: boolean;
}

/** Omits the console's port, because it serves the readiness check itself. */
export function openPorts({ host, s3, server, publicServer, isSecure }: OpenServers): NamedPort[] {
  const titled: readonly [string, number | undefined][] = [
    ["The port of the S3 API", s3.port],
    ["The port of the scripts", server?.port],
    ["The port of public buckets", publicServer?.port()],
  ];
  return titled.flatMap(([title, port]) => (port === undefined ? [] : [{ title, host, port, isSecure }]));
}
