// Checks that everything a script's configuration names is there and unambiguous, before anything is started.
import { configErrorFor, type ScriptConfig } from "../script/config.ts";
import type { Invocation } from "./command.ts";
import type { Data } from "./context.ts";
import { ask } from "./prompt.ts";

export function checkNames(configs: readonly ScriptConfig[]): void {
  for (const [i, config] of configs.entries()) {
    const other = configs.find(({ name }, j) => j < i && name === config.name);
    if (other === undefined) continue;
    throw configErrorFor(
      config,
      ["name"],
      `The script of "${other.file}" has the name "${config.name}" already.`,
    );
  }
  const open = configs.filter(({ routes }) => routes.length === 0);
  if (open.length > 1) {
    const hint = 'For example: routes = ["photos.example.com/*"]';
    throw configErrorFor(
      open[1]!,
      ["name"],
      "Several scripts share a server, so this one needs routes.",
      hint,
    );
  }
}

export function checkSecretNames(config: ScriptConfig, secretNames: readonly string[]): void {
  const hint = (name: string) => `Choose another name, or delete the secret: store secret delete ${name}`;
  for (const [i, { binding }] of config.buckets.entries()) {
    if (!secretNames.includes(binding)) continue;
    const message = `The script has a secret named "${binding}" too.`;
    throw configErrorFor(config, ["store_buckets", i, "binding"], message, hint(binding));
  }
  const assets = config.assets?.binding;
  if (assets !== undefined && secretNames.includes(assets)) {
    const message = `The script has a secret named "${assets}" too.`;
    throw configErrorFor(config, ["assets", "binding"], message, hint(assets));
  }
  for (const name of Object.keys(config.vars)) {
    if (!secretNames.includes(name)) continue;
    throw configErrorFor(config, ["vars", name], `The script has a secret named "${name}" too.`, hint(name));
  }
}

/** Whether a person can be asked to create a missing bucket: at the start, but not when a change is reloaded. */
export type Asking = "may ask" | "asks nobody";

export async function checkBuckets(
  invocation: Invocation,
  { engine, note }: Data,
  config: ScriptConfig,
  asking: Asking,
): Promise<void> {
  for (const [i, { bucketName }] of config.buckets.entries()) {
    if ((await engine.bucket(bucketName)) !== undefined) continue;
    if (
      invocation.options.flag("create-buckets") ||
      (asking === "may ask" && (await mayCreate(invocation, bucketName)))
    ) {
      await engine.createBucket(bucketName);
      await note("create bucket", bucketName);
      invocation.output.note(`Created bucket ${bucketName}.`);
      continue;
    }
    const path = ["store_buckets", i, "bucket_name"] as const;
    const hint = `Create it: store bucket create ${bucketName}\nOr have it created: --create-buckets`;
    throw configErrorFor(config, path, `There is no bucket "${bucketName}".`, hint);
  }
}

async function mayCreate({ output }: Invocation, bucketName: string): Promise<boolean> {
  if (!output.isTerminal || process.stdin.isTTY !== true) return false;
  const answer = await ask(process.stdin, output, `There is no bucket "${bucketName}". Create it? [Y/n] `);
  return /^(y(es)?)?$/i.test(answer.trim());
}
