// One script on a server: its bundle, its processes, and what makes it load anew: its files while developing,
// its secrets at any time. A change that does not build or load is told, and what ran before runs on.
import type { Address } from "../http/listen.ts";
import { type Bundle, createBundler } from "./bundle.ts";
import type { ScriptConfig } from "./config.ts";
import { createPool, type Pool } from "./pool.ts";
import type { Processes } from "./processes.ts";
import type { ServerOptions } from "./server.ts";
import { watchFiles } from "./watch.ts";

export interface RunningScript {
  readonly config: ScriptConfig;
  readonly pool: Pool;
  start(): Promise<void>;
  scheduled(cron: string, time: number): Promise<void>;
  close(): Promise<void>;
}

export interface RunningScriptOptions extends ServerOptions {
  readonly read: () => ScriptConfig;
  readonly config: ScriptConfig;
  readonly directory: string;
  readonly processes: Processes;
  readonly addressFor: (name: string, count: number) => Address;
  /** Which script a process runs, for its output. */
  readonly owners: Map<number, string>;
}

const secretsMilliseconds = 1000;

export function createRunningScript(options: RunningScriptOptions): RunningScript {
  const { mode, location, secrets, log, processes, owners } = options;
  const { name } = options.config;
  let config = options.config;
  let bundle: Bundle | undefined;
  let revision = "";
  let last: Promise<void> = Promise.resolve();
  let polling: NodeJS.Timeout | undefined;

  const bundler = createBundler({ ...config, output: options.directory });
  const pool = createPool({
    name,
    size: mode === "dev" ? 1 : options.cores,
    processes: {
      ...processes,
      async take() {
        const process = await processes.take();
        owners.set(process.id, name);
        void process.ended.then(() => owners.delete(process.id));
        return process;
      },
    },
    log,
  });
  const watch = mode === "dev" ? watchFiles(() => reload("changed")) : undefined;

  async function run(): Promise<void> {
    config = options.read();
    revision = await secrets.revision(name);
    const values = await secrets.values(name);
    const previous = bundle;
    bundle = await bundler.build();
    watch?.files([config.file, ...bundle.inputs.filter((input) => !input.includes("/node_modules/"))]);
    await pool.run({
      script: { ...config, bundle: bundle.file, secrets: values },
      location,
      mode,
      address: (count) => options.addressFor(name, count),
    });
    await previous?.discard();
  }

  /** One load after the other; the last change wins. */
  function reload(why: string): void {
    const began = Date.now();
    last = last.then(run).then(
      () => log(`Script "${name}" ${why}: loaded anew in ${Date.now() - began} ms.`),
      (error: unknown) => log(`${messageOf(error)}\nScript "${name}" runs on as it was.`),
    );
  }

  async function pollSecrets(): Promise<void> {
    if ((await secrets.revision(name)) !== revision) reload("has new secrets");
  }

  return {
    get config() {
      return config;
    },
    pool,
    async start() {
      await run();
      polling = setInterval(() => {
        pollSecrets().catch((error: unknown) => log(`Secrets could not be read: ${messageOf(error)}`));
      }, secretsMilliseconds).unref();
    },
    async scheduled(cron, time) {
      const { process } = await pool.pick();
      await process.scheduled(cron, time);
    },
    async close() {
      clearInterval(polling);
      watch?.close();
      await last;
      await pool.close();
      await bundler.close();
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
