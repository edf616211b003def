// One script on a server: its bundle and processes. Changed files (in dev) and changed secrets
// reload it. A change that cannot be built or loaded is logged; the previous version stays.
import { setTimeout as pause } from "node:timers/promises";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import type { UpgradeHandler } from "../../http/upgrade.ts";
import { errorMessage } from "../../model/errors.ts";
import { inspectAssets } from "../assets/inspect-assets.ts";
import { withSiteManifest } from "../assets/site-manifest.ts";
import type { EntryPoint } from "../bindings.ts";
import type { ScriptConfig } from "../config/config.ts";
import { envNames } from "../config/env-names.ts";
import { runtimeBehaviour } from "../config/runtime-flags.ts";
import { siteManifestName } from "../config/wrangler/site-names.ts";
import type { Mode } from "../context.ts";
import type { HostObserver } from "../host/exchange.ts";
import type { NotificationMessage, NotificationResult } from "../host/messages.ts";
import { type Bundle, BundleError, type Bundler, type BundlerOptions, createBundler } from "./bundle.ts";
import type { AwakeScripts } from "./processes/awake-scripts.ts";
import { createPool, type Pool } from "./processes/process-pool.ts";
import type { Processes } from "./processes/warm-processes.ts";
import { createForwarder } from "./router.ts";
import { openScriptFront, type ScriptFront } from "./script-front.ts";
import { boundEntryPoints, resolveServices } from "./services/resolve-services.ts";
import type { ServerOptions } from "./supervisor.ts";
import { createUpgradeForwarder } from "./upgrade-forwarder.ts";
import { watchFiles } from "./watch-files.ts";

export interface RunningScript {
  /** The configuration of the running version. */
  readonly config: ScriptConfig;
  readonly pool: Pool;
  /** Handles a request that the router received. */
  readonly handle: HttpHandler;
  /** Handles a request for a WebSocket; undefined if the script cannot accept one. */
  readonly upgrade: UpgradeHandler;
  /** Entry points of the running version that other scripts call. */
  entryPoints(): readonly EntryPoint[];
  start(): Promise<void>;
  scheduled(cron: string, time: number): Promise<void>;
  /** Reloads the script from its files. If that fails, rejects and keeps the running version. */
  restart(): Promise<void>;
  notify(events: readonly NotificationMessage[]): Promise<NotificationResult>;
  close(): Promise<void>;
}

export interface RunningScriptOptions extends Omit<ServerOptions, "configs"> {
  readonly read: () => Promise<ScriptConfig>;
  readonly config: ScriptConfig;
  readonly processes: Processes;
  /** Undefined when the processes accept on the port themselves. */
  readonly socketPath: ((count: number) => string) | undefined;
  /** Called after each load, because routes and schedules may have changed. */
  readonly onLoaded: () => void;
  /** Configurations of all scripts of the server. */
  readonly allScripts: () => readonly ScriptConfig[];
  /** Observes requests that no process of the script observes itself. */
  readonly observer: HostObserver;
  /** Undefined: the script never sleeps. */
  readonly awake: AwakeScripts | undefined;
  /** Whether the script is started at its first request. */
  readonly startsAsleep: boolean;
}

const secretsPollMilliseconds = 1000;
/** A notification handler that exceeds this time counts as failed. */
const notifyTimeoutMilliseconds = 5 * 60_000;

export function createRunningScript(options: RunningScriptOptions): RunningScript {
  const { mode, location, presign, openUploads, encryption, secrets, log, processes, socketPath } = options;
  const { name } = options.config;
  const size = mode === "dev" ? 1 : options.cores;
  const pool = createPool({ name, size, processes, socketPath, log, onWake, awake: options.awake });
  const forward = createForwarder(pool);
  const forwardUpgrade = createUpgradeForwarder(pool);
  const watch = mode === "dev" ? watchFiles(() => reload("changed", run)) : undefined;
  let config = options.config;
  let entryPoints: readonly EntryPoint[] = [];
  let loaded: { readonly bundle: Bundle | undefined } | undefined;
  let bundled: { readonly key: string; readonly bundler: Bundler } | undefined;
  let front: ScriptFront | undefined;
  let inputs: readonly string[] = [];
  let revision = "";
  let lastLoad: Promise<void> = Promise.resolve();
  let polling: NodeJS.Timeout | undefined;

  async function run(): Promise<void> {
    const { config: next, folders } = await withSiteManifest(await options.read(), location);
    if (next.name !== name) {
      throw new Error(
        `Script "${name}" was renamed to "${next.name}": restart the server to use the new name.`,
      );
    }
    const values = await secrets.values(name);
    const built = await (await bundlerFor(next))?.build();
    inputs = (built?.inputs ?? []).filter((input) => !input.includes("/node_modules/"));
    watch?.files([next.file, ...next.watched, ...inputs], folders);
    if (next.assets !== undefined) await inspectAssets({ ...next.assets, location }, log);
    const called = next.isolation === "sandbox" ? boundEntryPoints(name, options.allScripts()) : [];
    await pool.run({
      script: { ...withServices(next), entryPoints: called, secrets: { ...values, ...next.devVars } },
      bundle: built,
      location,
      mode,
      presign,
      openUploads,
      encryption,
    });
    const previousFront = front;
    front =
      next.isolation === "sandbox"
        ? await openScriptFront(next, { mode, location, observer: options.observer, forward, forwardUpgrade })
        : undefined;
    previousFront?.close();
    config = next;
    entryPoints = called;
    loaded = { bundle: built };
    options.onLoaded();
  }

  /** Service bindings without a script become bindings that throw. */
  function withServices(next: ScriptConfig): ScriptConfig {
    const { services, missing } = resolveServices(next, options.allScripts());
    for (const { binding, kind, fault } of missing)
      log(`Script "${name}": env.${binding} is ${kind}, but ${fault}`);
    const unsupported = missing.map(({ fault, ...rest }) => ({ ...rest, fault: `, but ${fault}` }));
    return { ...next, services, unsupported: [...next.unsupported, ...unsupported] };
  }

  /** In production only secrets are reloaded; new code requires a server restart. */
  async function reloadSecrets(): Promise<void> {
    if (mode === "dev" || loaded === undefined) return run();
    const values = await secrets.values(name);
    const clash = envNames(config).find((taken) => Object.hasOwn(values, taken.name));
    if (clash !== undefined) {
      throw new Error(
        `The script has ${clash.what} named "${clash.name}" too: delete the secret of that name.`,
      );
    }
    await pool.run({
      script: { ...withServices(config), entryPoints, secrets: values },
      ...loaded,
      location,
      mode,
      presign,
      openUploads,
      encryption,
    });
  }

  /** Undefined when assets are served without a script. */
  async function bundlerFor(next: ScriptConfig): Promise<Bundler | undefined> {
    const nextOptions = next.main === undefined ? undefined : bundlerOptions(next, next.main, mode);
    const key = JSON.stringify(nextOptions) ?? "";
    if (bundled?.key !== key) {
      await bundled?.bundler.close();
      bundled = nextOptions === undefined ? undefined : { key, bundler: createBundler(nextOptions) };
    }
    return bundled?.bundler;
  }

  /** Runs loads one after another, so that the last change wins. */
  function reload(why: string, load: () => Promise<void>): void {
    const startedAt = Date.now();
    lastLoad = lastLoad.then(load).then(
      () => log(`Script "${name}" ${why}: reloaded in ${Date.now() - startedAt} ms.`),
      (error: unknown) => {
        if (error instanceof BundleError) {
          watch?.watchSiblings([config.file, ...config.watched, ...inputs, ...error.files]);
        }
        log(`${errorMessage(error)}\nScript "${name}" keeps running its previous version.`);
      },
    );
  }

  function restart(): Promise<void> {
    const startedAt = Date.now();
    const restarted = lastLoad.then(run);
    lastLoad = restarted.then(
      () => log(`Script "${name}" was restarted in ${Date.now() - startedAt} ms, as requested.`),
      () => log(`Script "${name}" could not be restarted; the running version stays in use.`),
    );
    return restarted;
  }

  /** Starts the script after it slept, or for the first time, with its secrets of now. */
  function onWake(): Promise<void> {
    const woken = lastLoad.then(async () => {
      revision = await secrets.revision(name);
      await reloadSecrets();
    });
    lastLoad = woken.catch((error: unknown) => {
      log(`Script "${name}" could not be started: ${errorMessage(error)}`);
    });
    return woken;
  }

  /** Loads a script that the server did not start. A failure is reported by the forwarder. */
  async function startFirst(): Promise<void> {
    await pool.wake().catch(() => {});
  }

  async function handleFirst(request: HttpRequest): Promise<HttpResponse> {
    await startFirst();
    return (front?.handle ?? forward)(request);
  }

  async function pollSecrets(): Promise<void> {
    if (pool.isAsleep()) return;
    const previousRevision = revision;
    revision = await secrets.revision(name);
    if (revision !== previousRevision) reload("has new secrets", reloadSecrets);
  }

  return {
    get config() {
      return config;
    },
    pool,
    handle: (request) => (loaded === undefined ? handleFirst(request) : (front?.handle ?? forward)(request)),
    entryPoints: () => entryPoints,
    async upgrade(request) {
      if (loaded === undefined) await startFirst();
      return front?.upgrade(request);
    },
    restart,
    async start() {
      if (options.startsAsleep) {
        pool.sleep();
      } else {
        revision = await secrets.revision(name);
        await run();
      }
      polling = setInterval(() => {
        pollSecrets().catch((error: unknown) => log(`Secrets could not be read: ${errorMessage(error)}`));
      }, secretsPollMilliseconds).unref();
    },
    async scheduled(cron, time) {
      const process = await pool.pick();
      await process.scheduled(cron, time);
    },
    async notify(events) {
      const process = await pool.pick();
      const timeoutController = new AbortController();
      const timeout = pause(notifyTimeoutMilliseconds, undefined, {
        signal: timeoutController.signal,
        ref: false,
      }).then(() => {
        throw new Error(`the handler did not end within ${notifyTimeoutMilliseconds / 60_000} minutes`);
      });
      try {
        return await Promise.race([process.notify(events), timeout]);
      } finally {
        timeout.catch(() => {});
        timeoutController.abort();
      }
    },
    async close() {
      clearInterval(polling);
      watch?.close();
      await lastLoad;
      await pool.close();
      front?.close();
      await bundled?.bundler.close();
    },
  };
}

function bundlerOptions(config: ScriptConfig, main: string, mode: Mode): BundlerOptions {
  const { directory, bundling } = config;
  const { platform, timers } = runtimeBehaviour(config);
  const manifest = config.vars[siteManifestName];
  return {
    ...{ main, directory, bundling },
    packages: platform === "workers" ? "workers" : "node",
    nodeEnv: mode === "dev" ? "development" : "production",
    timers,
    siteManifest: typeof manifest === "string" ? manifest : undefined,
    target: config.isolation === "sandbox" ? "workerd" : "process",
  };
}
