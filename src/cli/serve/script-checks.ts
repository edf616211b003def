// Checks at startup that script names are unique and that all bound buckets and namespaces exist.
import { configErrorFor, type ScriptConfig } from "../../script/config/config.ts";
import { envNames } from "../../script/config/env-names.ts";
import type { Mode } from "../../script/context.ts";
import { reachableScripts } from "../../script/supervisor/services/resolve-services.ts";
import type { Invocation } from "../framework/command.ts";
import type { Data } from "../store/open-store.ts";
import { ask } from "../terminal/prompt.ts";

export function checkNames(configs: readonly ScriptConfig[]): void {
  for (const [i, config] of configs.entries()) {
    const other = configs.find(({ name }, j) => j < i && name === config.name);
    if (other === undefined) continue;
    throw configErrorFor(
      config,
      ["name"],
      `The name "${config.name}" is already used by the script of "${other.file}".`,
    );
  }
  const open = reachableScripts(configs).filter(({ routes }) => routes.length === 0);
  if (open.length > 1) {
    const hint = 'For example: routes = ["photos.example.com/*"]';
    throw configErrorFor(
      open[1]!,
      ["name"],
      "Several scripts share this server, so this script needs routes.",
      hint,
    );
  }
}

export function checkSecretNames(config: ScriptConfig, secretNames: readonly string[]): void {
  for (const { name, path } of envNames(config)) {
    if (!secretNames.includes(name)) continue;
    const hint = `Choose another name, or delete the secret: store secret delete ${name}`;
    throw configErrorFor(config, path, `The script already has a secret named "${name}".`, hint);
  }
}

/** Whether to ask the user about creating missing buckets: at startup, but not on a reload. */
export type PromptMode = "ask" | "never ask";

export interface ExistenceCheck {
  readonly promptMode: PromptMode;
  readonly mode: Mode;
}

export async function checkBuckets(
  invocation: Invocation,
  { engine, recordAudit: note }: Data,
  config: ScriptConfig,
  check: ExistenceCheck,
): Promise<void> {
  for (const [i, { bucketName }] of config.buckets.entries()) {
    if ((await engine.bucket(bucketName)) !== undefined) continue;
    if (await shouldCreate(invocation, config, check, `bucket "${bucketName}"`)) {
      await engine.createBucket(bucketName);
      await note("create bucket", bucketName);
      invocation.output.note(`Created bucket ${bucketName}.`);
      continue;
    }
    const path = ["store_buckets", i, "bucket_name"] as const;
    const hint = `Create it: store bucket create ${bucketName}\nOr create it at startup: --create-buckets`;
    throw configErrorFor(config, path, `There is no bucket "${bucketName}".`, hint);
  }
}

/** Like `checkBuckets`, for key-value namespaces; --create-buckets creates namespaces too. */
export async function checkNamespaces(
  invocation: Invocation,
  { engine, recordAudit: note }: Data,
  config: ScriptConfig,
  check: ExistenceCheck,
): Promise<void> {
  for (const [i, { namespace }] of config.kvNamespaces.entries()) {
    if ((await engine.kv.namespace(namespace)) !== undefined) continue;
    const subject = `key-value namespace "${namespace}"`;
    if (await shouldCreate(invocation, config, check, subject)) {
      await engine.kv.createNamespace(namespace);
      await note("create namespace", namespace);
      invocation.output.note(`Created key-value namespace ${namespace}.`);
      continue;
    }
    const hint = `Create it: store kv namespace create ${namespace}\nOr create it at startup: --create-buckets`;
    // The error points at the binding's name, because the id is optional in the configuration.
    throw configErrorFor(config, ["kv_namespaces", i, "binding"], `There is no ${subject}.`, hint);
  }
}

async function shouldCreate(
  invocation: Invocation,
  config: ScriptConfig,
  { promptMode, mode }: ExistenceCheck,
  subject: string,
): Promise<boolean> {
  // Like wrangler, `store dev` creates the missing buckets of a wrangler configuration.
  if (mode === "dev" && config.kind === "wrangler") return true;
  if (invocation.options.flag("create-buckets")) return true;
  return promptMode === "ask" && (await askToCreate(invocation, subject));
}

async function askToCreate({ output }: Invocation, subject: string): Promise<boolean> {
  if (!output.isTerminal || process.stdin.isTTY !== true) return false;
  const answer = await ask(process.stdin, output, `There is no ${subject}. Create it? [Y/n] `);
  return /^(y(es)?)?$/i.test(answer.trim());
}
