// What `store dev` and `store serve` share: checks that everything a script needs is there, starts the
// scripts, says where they are, and ends them in order when a signal comes.
import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { BundleError } from "../script/bundle.ts";
import { configErrorFor, readConfig, type ScriptConfig } from "../script/config.ts";
import type { Mode } from "../script/host-messages.ts";
import { LoadError } from "../script/processes.ts";
import { createSecrets } from "../script/secrets.ts";
import { type ScriptServer, startScripts } from "../script/server.ts";
import type { Invocation, Option } from "./command.ts";
import { CommandError, usageError } from "./command-error.ts";
import { type Data, openData } from "./context.ts";
import { systemCode } from "./failures.ts";
import { ask } from "./prompt.ts";
import { configFiles } from "./script-config.ts";

export const serverOptions: Readonly<Record<string, Option>> = {
  port: { value: "PORT", summary: "where scripts answer, 8787 unless given; 0 picks a free one" },
  host: { value: "HOST", summary: "the address to listen on, 127.0.0.1 unless given" },
  "create-buckets": { summary: "create buckets that do not exist yet" },
  "script-memory": {
    value: "MB",
    summary: "heap a script may use before it is started anew, 512 unless given",
  },
};

export async function serveScripts(invocation: Invocation, mode: Mode): Promise<void> {
  const { options, output } = invocation;
  const port = numberOption(invocation, "port", 8787, 65_535);
  const heapMegabytes = numberOption(invocation, "script-memory", 512, 1_000_000);
  const files = configFiles(invocation);
  const data = await openData(invocation, { absent: "create" });
  try {
    if (data.location === "memory:") {
      throw new CommandError("Scripts run in processes of their own, which cannot share memory.", {
        hint: "Name a folder: --data DIR",
      });
    }
    const secrets = createSecrets(data.documents, data.secretKey());
    const read = async (file: string, asking: Asking) => {
      const config = readConfig(file);
      checkSecretNames(config, await secrets.list(config.name));
      await checkBuckets(invocation, data, config, asking);
      return config;
    };
    checkNames(files.map((file) => readConfig(file)));
    for (const file of files) await read(file, mode === "dev" ? "may ask" : "asks nobody");
    const host = options.text("host") ?? "127.0.0.1";
    const server = await startScripts({
      configs: files.map((file) => () => read(file, "asks nobody")),
      location: data.location,
      mode,
      host,
      port,
      cores: availableParallelism(),
      heapMegabytes,
      secrets,
      log: (line) => output.note(line),
      onOutput(script, line, stream) {
        const prefix = files.length > 1 ? `[${script}] ` : "";
        output[stream].write(`${prefix}${line}\n`);
      },
    }).catch((error: unknown) => {
      throw startError(error, host, port);
    });
    await announce(invocation, server, data.location, mode);
    await endingSignal();
    output.note("Ending: requests under way are finished first.");
    await server.close();
  } finally {
    await data.close();
  }
}

/** Why the scripts could not be started, for those who can do something about it. */
function startError(error: unknown, host: string, port: number): unknown {
  if (error instanceof BundleError || error instanceof LoadError) return new CommandError(error.message);
  const code = systemCode(error);
  const place = `port ${port} of ${host}`;
  if (code === "EADDRINUSE") {
    const hint = "Choose another: --port PORT; with 0 a free one is found.";
    return new CommandError(`Cannot listen on ${place}: it is in use already.`, { hint });
  }
  if (code === "EACCES") {
    const hint = "Ports below 1024 need a privilege: choose another, --port PORT";
    return new CommandError(`Cannot listen on ${place}: permission is denied.`, { hint });
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new CommandError(`Cannot listen on ${host}: it is no address of this machine.`);
  }
  return error;
}

function numberOption(invocation: Invocation, name: string, standard: number, most: number): number {
  const text = invocation.options.text(name);
  if (text === undefined) return standard;
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  throw usageError(`--${name} must be a whole number up to ${most}, not "${text}".`);
}

function checkNames(configs: readonly ScriptConfig[]): void {
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

function checkSecretNames(config: ScriptConfig, secretNames: readonly string[]): void {
  const hint = (name: string) => `Choose another name, or delete the secret: store secret delete ${name}`;
  for (const [i, { binding }] of config.buckets.entries()) {
    if (!secretNames.includes(binding)) continue;
    const message = `The script has a secret named "${binding}" too.`;
    throw configErrorFor(config, ["store_buckets", i, "binding"], message, hint(binding));
  }
  for (const name of Object.keys(config.vars)) {
    if (!secretNames.includes(name)) continue;
    throw configErrorFor(config, ["vars", name], `The script has a secret named "${name}" too.`, hint(name));
  }
}

/** A bucket that is missing may be asked for at the start; not when a change is taken in, which nobody awaits. */
type Asking = "may ask" | "asks nobody";

async function checkBuckets(
  invocation: Invocation,
  { engine }: Data,
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

async function announce(
  { output, options, directory }: Invocation,
  server: ScriptServer,
  location: string,
  mode: Mode,
): Promise<void> {
  const host = options.text("host") ?? "127.0.0.1";
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${server.port}/`;
  const scripts = server.scripts.map(({ config }) => ({
    name: config.name,
    url,
    routes: config.routes,
    buckets: config.buckets.map(({ binding, bucketName }) => ({ binding, bucket: bucketName })),
  }));
  if (output.isJson) return output.json({ url, data: location, scripts });
  const rows = scripts.map(({ name, routes, buckets }) => [
    name,
    routes.length > 0 ? routes.join(" ") : url,
    buckets.map(({ binding, bucket }) => `env.${binding} → ${bucket}`).join(", "),
  ]);
  await output.table([{ name: "SCRIPT" }, { name: "URL" }, { name: "BUCKETS" }], rows);
  await output.line("");
  await output.line(`Listening on ${url}`);
  await output.line(`Data in ${relative(directory, location) || location}`);
  if (mode === "dev") {
    await output.line("");
    await output.line("Try:");
    await output.line(`  curl -X PUT --data-binary 'Hello, world!' ${url}hello.txt`);
    await output.line(`  curl ${url}hello.txt`);
    await output.line(`  curl -X DELETE ${url}hello.txt`);
  }
}

/** Resolves with the first signal to end; the second ends the process at once. */
function endingSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}
