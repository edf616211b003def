// Starts the S3 API: its options, its port, and the access key of `store dev`.
import { availableParallelism } from "node:os";
import type { Credential } from "../../access/keys/credentials.ts";
import { getInternalKey } from "../../access/keys/internal-key.ts";
import { createKeyUses, type KeyUses } from "../../access/keys/key-usage.ts";
import type { PortOptions } from "../../http/port-options.ts";
import type { PortAddress } from "../../http/server/shared-listener.ts";
import type { S3Access } from "../../http/sigv4.ts";
import type { Watch } from "../../metrics/collector.ts";
import { isRegion } from "../../s3/regions.ts";
import { type S3Server, startS3 } from "../../s3/server/supervisor.ts";
import type { Mode } from "../../script/context.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";
import type { Data } from "../store/open-store.ts";
import { endpointOption, listenError, portOption, serverUrl } from "./listen-options.ts";

export const s3Options: Readonly<Record<string, Option>> = {
  "s3-port": { value: "PORT", summary: "port of the S3 API; default: 9000; 0 picks a free port" },
  "s3-domain": {
    value: "NAME",
    summary: "base domain for virtual-hosted-style requests: s3.example.com serves photos.s3.example.com",
    repeatable: true,
  },
  "s3-region": {
    value: "NAME",
    summary: "the only region that S3 clients may name; default: they may name any",
  },
  "block-public-access": {
    summary: "no bucket policy gives access to everyone: as if every bucket had a full public access block",
  },
  "s3-url": { value: "URL", summary: "public URL of the S3 API, used in presigned URLs" },
};

export interface RunningS3 extends S3Server {
  readonly url: string;
  /** Access key with full access; undefined except in dev mode. */
  readonly key: Credential | undefined;
  /** For URLs that scripts presign. */
  readonly presign: S3Access;
  /** Last uses of access keys on this server. */
  readonly uses: KeyUses;
}

/** Parsed options. An invalid option throws before anything is opened. */
export interface S3Settings extends PortAddress {
  readonly domains: readonly string[];
  /** The only region; default: any. */
  readonly region: string | undefined;
  /** Public URL, if it differs from the listening address. */
  readonly endpoint: string | undefined;
  /** Whether every bucket has a full public access block. */
  readonly blocksPublicAccess: boolean;
}

export function s3Settings(invocation: Invocation, mode: Mode): S3Settings {
  return {
    ...portOption(invocation, { option: "s3-port", port: 9000, mode }),
    domains: ["localhost", ...invocation.options.texts("s3-domain").map((name) => name.toLowerCase())],
    region: regionOption(invocation),
    endpoint: endpointOption(invocation, "s3-url"),
    blocksPublicAccess: invocation.options.flag("block-public-access"),
  };
}

function regionOption({ options }: Invocation): string | undefined {
  const region = options.text("s3-region");
  if (region === undefined || isRegion(region)) return region;
  throw usageError(
    `The region "${region}" is not valid: use letters, digits and hyphens, such as eu-central-1.`,
  );
}

export interface ServeS3Options {
  readonly data: Data;
  readonly mode: Mode;
  readonly watch: Watch;
  readonly log: (line: string) => void;
  readonly commonPortOptions: PortOptions;
  /** Maximum open multipart uploads in each bucket. */
  readonly openUploads: number;
}

export async function serveS3(
  { host, port, whenTaken, domains, region, endpoint, blocksPublicAccess }: S3Settings,
  { data, mode, watch, log, commonPortOptions, openUploads }: ServeS3Options,
): Promise<RunningS3> {
  const secretKey = data.secretKey();
  const key = mode === "dev" ? await getInternalKey(data.documents, secretKey, "dev") : undefined;
  const { accessKeyId, secretAccessKey } = await getInternalKey(data.documents, secretKey, "presign");
  const uses = createKeyUses(data.documents);
  const server = await startS3({
    ...{ location: data.location, host, port, whenTaken, domains, secretKey, watch, log, openUploads },
    encryption: data.encryption,
    ...commonPortOptions,
    blocksPublicAccess,
    region,
    onUsed: uses.record,
    environment: process.env,
    processes: mode === "dev" ? 1 : availableParallelism(),
  }).catch((error: unknown) => {
    throw listenError(error, { host, port, option: "s3-port" });
  });
  const url = serverUrl(host, server.port, commonPortOptions.tls);
  const presign = { endpoint: endpoint ?? url, accessKeyId, secretAccessKey };
  return {
    ...{ url, key, presign, uses, isUp: server.isUp, port: server.port },
    async close() {
      await server.close();
      await uses.close();
    },
  };
}
