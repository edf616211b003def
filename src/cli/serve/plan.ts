// Options of `store dev` and `store serve`, and the plan made from options and configurations.

import type { WebhookClient } from "../../events/webhook-client.ts";
import type { PortLimits } from "../../http/server/limits.ts";
import type { PortAddress } from "../../http/server/shared-listener.ts";
import { readConfig } from "../../script/config/config.ts";
import type { Mode } from "../../script/context.ts";
import type { SandboxSettings } from "../../script/supervisor/sandboxes.ts";
import type { Invocation, Option } from "../framework/command.ts";
import {
  configFiles,
  environmentOption,
  hasConfigs,
  isolationOptions,
  noteIgnored,
  readOptions,
} from "../store/script-config.ts";
import { type ConsoleSettings, consoleOptions, consoleSettings } from "./console/console.ts";
import { webhookClient, webhookOptions } from "./events.ts";
import { limitOptions, portLimits, scriptLimit, uploadLimit } from "./limit-options.ts";
import { numberOption, portOption, proxyOptions, trustedOption } from "./listen-options.ts";
import { observationOptions } from "./observability.ts";
import { type PublicSettings, publicOptions, publicSettings } from "./public.ts";
import { runBuilds } from "./run-build.ts";
import { type S3Settings, s3Options, s3Settings } from "./s3.ts";
import { checkNames } from "./script-checks.ts";
import { type BucketSocket, bucketSocketOptions, bucketSocketSettings } from "./sockets/bucket-sockets.ts";
import { type TlsFiles, tlsFiles, tlsOptions } from "./tls.ts";

export const serverOptions: Readonly<Record<string, Option>> = {
  ...environmentOption,
  port: { value: "PORT", summary: "port of the scripts; default: 8787; 0 picks a free port" },
  host: { value: "HOST", summary: "address to listen on; default: 127.0.0.1" },
  ...s3Options,
  ...consoleOptions,
  ...publicOptions,
  ...bucketSocketOptions,
  ...webhookOptions,
  ...tlsOptions,
  ...proxyOptions,
  ...limitOptions,
  ...observationOptions,
  "create-buckets": { summary: "create buckets and key-value namespaces that do not exist yet" },
  "script-memory": {
    value: "MB",
    summary: "heap limit of a script, after which it is restarted; default: 512, in a sandbox 128",
  },
  ...isolationOptions,
};

/** Everything read from options and configurations before anything is opened or created. */
export interface Plan extends PortAddress {
  readonly mode: Mode;
  readonly heapMegabytes: number;
  readonly sandbox: SandboxSettings;
  /** Configuration files of the scripts; empty when there are no scripts. */
  readonly files: readonly string[];
  readonly s3: S3Settings;
  readonly console: ConsoleSettings;
  readonly public: PublicSettings;
  readonly bucketSockets: readonly BucketSocket[];
  readonly webhooks: WebhookClient;
  readonly tls: TlsFiles | undefined;
  readonly trusted: readonly string[];
  readonly limits: PortLimits;
  /** Maximum number of open multipart uploads in each bucket. */
  readonly openUploads: number;
  /** Number of scripts that run at a time. */
  readonly maxScripts: number | undefined;
}

export async function createPlan(invocation: Invocation, mode: Mode): Promise<Plan> {
  // Checked also without a script: a wrong option must not be ignored.
  const configOptions = readOptions(invocation, mode);
  const isS3Only = mode === "serve" && configOptions.main === undefined && !hasConfigs(invocation);
  const plan = {
    mode,
    ...portOption(invocation, { option: "port", port: 8787, mode }),
    heapMegabytes: numberOption(invocation, "script-memory", 512, 1_000_000),
    sandbox: {
      heapMegabytes: numberOption(invocation, "script-memory", 128, 1_000_000),
      allowsUnwalled: invocation.options.flag("allow-unwalled"),
    },
    files: isS3Only ? [] : configFiles(invocation),
    s3: s3Settings(invocation, mode),
    console: consoleSettings(invocation, mode),
    public: publicSettings(invocation, mode),
    bucketSockets: bucketSocketSettings(invocation),
    webhooks: webhookClient(invocation, mode),
    tls: tlsFiles(invocation),
    trusted: trustedOption(invocation),
    limits: portLimits(invocation),
    openUploads: uploadLimit(invocation),
    maxScripts: scriptLimit(invocation),
  };
  if (plan.files.length > 0) noteIgnored(invocation);
  if (mode === "dev") await runBuilds(invocation, plan.files);
  const configs = plan.files.map((file) => readConfig(file, configOptions));
  checkNames(configs);
  const devPort =
    mode === "dev" ? configs.find((config) => config.devPort !== undefined)?.devPort : undefined;
  const isGiven = invocation.options.text("port") !== undefined;
  return devPort === undefined || isGiven ? plan : { ...plan, port: devPort, whenTaken: "fail" };
}
