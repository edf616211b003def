// The `cloudflare:*` modules that a script may import, and their exports. The bundler generates the
// modules; the process that runs the script provides the values.

export const platformExports = {
  "cloudflare:workers": [
    "WorkerEntrypoint",
    "DurableObject",
    "WorkflowEntrypoint",
    "RpcTarget",
    "RpcStub",
    "RpcPromise",
    "RpcProperty",
    "ServiceStub",
    "exports",
    "waitUntil",
    "withEnv",
    "env",
  ],
  "cloudflare:sockets": ["connect"],
  "cloudflare:email": ["EmailMessage"],
  "cloudflare:node": ["httpServerHandler", "handleAsNodeRequest"],
  "cloudflare:workflows": ["NonRetryableError"],
  "cloudflare:test": [
    "env",
    "SELF",
    "fetchMock",
    "createExecutionContext",
    "waitOnExecutionContext",
    "createScheduledController",
    "createMessageBatch",
    "getQueueResult",
    "createPagesEventContext",
    "applyD1Migrations",
    "listDurableObjectIds",
    "runInDurableObject",
    "runDurableObjectAlarm",
  ],
} as const;

export type PlatformModule = keyof typeof platformExports;

export function isPlatformModule(name: string): name is PlatformModule {
  return Object.hasOwn(platformExports, name);
}

/** Property of globalThis that contains the exported values, by module and name. */
export const platformValues = Symbol.for("store.platform");
/** JavaScript expression with which bundled code reads the `platformValues` property. */
export const platformValuesExpression = 'globalThis[Symbol.for("store.platform")]';
