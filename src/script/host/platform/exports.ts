// The modules `cloudflare:*` that a script may import, and the names each of them exports. The bundler makes modules of
// the names; the process that runs the script holds their values.

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

/** The property of globalThis under which a process holds the values, by module and name. */
export const platformValues = Symbol.for("store.platform");
/** The name that the bundled code finds the symbol by. */
export const platformValuesExpression = 'globalThis[Symbol.for("store.platform")]';
