// The exported values of the `cloudflare:*` modules, in a process that runs a script.
import { AsyncLocalStorage } from "node:async_hooks";
import { define } from "../../globals/define.ts";
import type { Environment } from "../environment.ts";
import {
  RpcTarget,
  unsupportedClass,
  unsupportedError,
  unsupportedFunction,
  unsupportedObject,
  WorkerEntrypoint,
} from "./entrypoints.ts";
import { type PlatformModule, platformExports, platformValues } from "./exports.ts";
import { connect } from "./socket.ts";

type Values<Name extends PlatformModule> = Readonly<Record<(typeof platformExports)[Name][number], unknown>>;

export interface PlatformOptions {
  readonly env: Environment;
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/** Call before importing the script: its top-level code may use env. */
export function installPlatformValues(options: PlatformOptions): void {
  const values: { readonly [Name in PlatformModule]: Values<Name> } = {
    "cloudflare:workers": workers(options),
    "cloudflare:sockets": { connect },
    "cloudflare:email": { EmailMessage: unsupportedClass("EmailMessage", "email (EmailMessage)") },
    "cloudflare:node": {
      httpServerHandler: unsupportedFunction("httpServerHandler", "Export a fetch handler."),
      handleAsNodeRequest: unsupportedFunction("handleAsNodeRequest", "Export a fetch handler."),
    },
    "cloudflare:workflows": { NonRetryableError },
    "cloudflare:test": testValues(),
  };
  define(globalThis, { [platformValues]: values });
}

function workers({ env, waitUntil }: PlatformOptions): Values<"cloudflare:workers"> {
  return {
    WorkerEntrypoint,
    DurableObject: unsupportedClass("DurableObject", "Durable Objects"),
    WorkflowEntrypoint: unsupportedClass("WorkflowEntrypoint", "Workflows"),
    RpcTarget,
    RpcStub: unsupportedClass("RpcStub", "RPC between scripts (RpcStub)"),
    RpcPromise: unsupportedClass("RpcPromise", "RPC between scripts (RpcPromise)"),
    RpcProperty: unsupportedClass("RpcProperty", "RPC between scripts (RpcProperty)"),
    ServiceStub: unsupportedClass("ServiceStub", "service bindings (ServiceStub)"),
    exports: ownExports,
    waitUntil,
    ...replaceableEnv(env),
  };
}

/** The `exports` of the module and of each context. */
export const ownExports = unsupportedObject("bindings of a script to its own exports (exports)");

class NonRetryableError extends Error {
  constructor(message: string, name = "NonRetryableError") {
    super(message);
    this.name = name;
  }
}

function testValues(): Values<"cloudflare:test"> {
  const names = platformExports["cloudflare:test"];
  const value = (name: string) => unsupportedObject(`the test tools of cloudflare:test (${name})`);
  const call = (name: string) => unsupportedFunction(`the test tools of cloudflare:test (${name})`);
  const isObject = (name: string) => name === "env" || name === "SELF" || name === "fetchMock";
  return Object.fromEntries(
    names.map((name) => [name, isObject(name) ? value(name) : call(name)]),
  ) as unknown as Values<"cloudflare:test">;
}

/** Tracks the current env only after the first call of `withEnv`: tracking slows every await. */
function replaceableEnv(env: Environment) {
  let current: AsyncLocalStorage<Environment> | undefined;
  let proxy: Environment | undefined;

  function createEnvProxy(storage: AsyncLocalStorage<Environment>): Environment {
    const currentEnv = () => storage.getStore() ?? env;
    return new Proxy(env, {
      get: (_, name) => Reflect.get(currentEnv(), name) as unknown,
      set: (_, name, value) => Reflect.set(currentEnv(), name, value),
      has: (_, name) => Reflect.has(currentEnv(), name),
      deleteProperty: (_, name) => Reflect.deleteProperty(currentEnv(), name),
      ownKeys: () => Reflect.ownKeys(currentEnv()),
      getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(currentEnv(), name),
    });
  }

  return {
    env,
    /** Passes a proxy of the current env to `onReplaced`, then runs `work` with `newEnv`. */
    withEnv(newEnv: unknown, work: () => unknown, onReplaced: (env: Environment) => void): unknown {
      if (typeof newEnv !== "object" || newEnv === null) throw new TypeError("withEnv takes an object.");
      if (typeof work !== "function") throw unsupportedError("withEnv without a function to run");
      current ??= new AsyncLocalStorage();
      proxy ??= createEnvProxy(current);
      onReplaced(proxy);
      return current.run(newEnv as Environment, work);
    },
  };
}
