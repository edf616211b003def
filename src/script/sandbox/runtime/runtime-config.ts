// Writes the configuration of the runtime for one script. Everything a script can reach is named
// here: its bindings, each a socket of the bridge, and the outbound proxy.
import type { EntryPoint } from "../../bindings.ts";
import { unsupportedHint } from "../../config/wrangler/bindings.ts";
import { siteBinding } from "../../config/wrangler/site-names.ts";
import type { BundleFormat, LoadedScript, ScriptModule } from "../../host/messages.ts";
import type { TranslatedCompatibility } from "./compatibility.ts";
import { asciiJson, type ConfigValue, embed, formatValue } from "./config-text.ts";
import { oldestDate } from "./find-runtime.ts";
import {
  cacheSource,
  datasetSource,
  gateSource,
  rateLimiterSource,
  unsupportedSource,
} from "./worker-sources.ts";

/** File names of sockets. The runtime listens on `main`, `gate` and `entry`. */
export const socketNames = {
  main: "main",
  gate: "gate",
  assets: "assets",
  outbound: "outbound",
  bucket: (index: number) => `bucket-${index}`,
  kv: (index: number) => `kv-${index}`,
  /** Calls of another script. */
  service: (index: number) => `service-${index}`,
  /** Calls by other scripts. */
  entry: (index: number) => `entry-${index}`,
} as const;

export const configFile = "config.capnp";

export interface RuntimeConfigOptions {
  readonly script: Pick<
    LoadedScript,
    | "name"
    | "buckets"
    | "kvNamespaces"
    | "services"
    | "entryPoints"
    | "assets"
    | "emulated"
    | "unsupported"
    | "vars"
    | "secrets"
  >;
  readonly format: BundleFormat;
  /** The files of the bundle; the first one is the script. */
  readonly modules: readonly Pick<ScriptModule, "name" | "kind">[];
  readonly compatibility: TranslatedCompatibility;
  /** Folder of the sockets, as the runtime sees it. */
  readonly sockets: string;
  readonly heapMegabytes: number;
}

/** The files next to the script, by name. */
export function runtimeFiles(options: RuntimeConfigOptions): Readonly<Record<string, string>> {
  return {
    [configFile]: runtimeConfig(options),
    "gate.js": gateSource,
    "cache.js": cacheSource,
    "unsupported.js": unsupportedSource,
    "rate-limiter.js": rateLimiterSource,
    "dataset.js": datasetSource,
  };
}

const moduleKinds = { esm: "esModule", wasm: "wasm", text: "text", data: "data" } as const;

/** A date that every supported version of the runtime has, for modules of Store. */
const ownDate = oldestDate;

export function runtimeConfig(options: RuntimeConfigOptions): string {
  const { script, format, modules, compatibility, sockets, heapMegabytes } = options;
  const address = (name: string) => `unix:${sockets}/${name}`;
  const external = (name: string, http: ConfigValue = {}) => ({
    name,
    external: { address: address(name), http },
  });
  const own = (name: string, file: string, further: Record<string, ConfigValue> = {}) => ({
    name,
    worker: {
      modules: [{ name: file, esModule: embed(file) }],
      compatibilityDate: ownDate,
      globalOutbound: "none",
      ...further,
    },
  });
  const code: Record<string, ConfigValue> =
    format === "service-worker"
      ? { serviceWorkerScript: embed(modules[0]!.name) }
      : { modules: modules.map(({ name, kind }) => ({ name, [moduleKinds[kind]]: embed(name) })) };
  const services: ConfigValue[] = [
    {
      name: "main",
      worker: {
        ...code,
        compatibilityDate: compatibility.date,
        compatibilityFlags: compatibility.flags,
        bindings: bindings(script),
        globalOutbound: socketNames.outbound,
        cacheApiOutbound: "cache",
      },
    },
    own("gate", "gate.js", {
      compatibilityFlags: ["service_binding_extra_handlers"],
      bindings: [{ name: "MAIN", service: "main" }],
    }),
    own("cache", "cache.js"),
    { name: "none", network: { allow: [] } },
    external(socketNames.outbound, { style: { expression: "proxy" } }),
    ...script.buckets.map((_, i) => external(socketNames.bucket(i))),
    ...script.kvNamespaces.map((_, i) => external(socketNames.kv(i))),
    ...script.services.flatMap(({ service }, i) =>
      service === script.name ? [] : [external(socketNames.service(i), callOptions)],
    ),
    ...(script.assets?.binding === undefined ? [] : [external(socketNames.assets)]),
  ];
  const config: ConfigValue = {
    services,
    sockets: [
      {
        name: "main",
        address: address(socketNames.main),
        http: { forwardedProtoHeader: "X-Forwarded-Proto" },
        service: "main",
      },
      { name: "gate", address: address(socketNames.gate), http: {}, service: "gate" },
      ...script.entryPoints.map((entryPoint, i) => ({
        name: socketNames.entry(i),
        address: address(socketNames.entry(i)),
        http: callOptions,
        service: designator("main", entryPoint),
      })),
    ],
    extensions: [{ modules: extensionModules }],
    v8Flags: [`--max-old-space-size=${heapMegabytes}`],
    logging: { structuredLogging: true, stdoutPrefix: "", stderrPrefix: "" },
  };
  return `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${formatValue(config)};\n`;
}

/** Host of the CONNECT requests by which a runtime calls methods of a script in another one. */
export const rpcHost = "rpc.store.internal";

const callOptions: ConfigValue = { forwardedProtoHeader: "X-Forwarded-Proto", capnpConnectHost: rpcHost };

function designator(name: string, { entrypoint, props }: EntryPoint): ConfigValue {
  return { name, entrypoint, ...(props === undefined ? {} : { props: { json: asciiJson(props) } }) };
}

const extensionModules = [
  { name: "store:unsupported", internal: true, esModule: embed("unsupported.js") },
  { name: "store:rate-limiter", internal: true, esModule: embed("rate-limiter.js") },
  { name: "store:dataset", internal: true, esModule: embed("dataset.js") },
];

function bindings(script: RuntimeConfigOptions["script"]): ConfigValue[] {
  // A development variable overrides a variable of the same name, as in the process tier.
  const values: Readonly<Record<string, unknown>> = { ...script.vars, ...script.secrets };
  return [
    ...Object.entries(values).map(([name, value]) => ({ name, json: asciiJson(value) })),
    ...script.buckets.map(({ binding }, i) => ({ name: binding, r2Bucket: socketNames.bucket(i) })),
    ...script.kvNamespaces.map(({ binding }, i) => ({ name: binding, kvNamespace: socketNames.kv(i) })),
    ...script.services.map((service, i) => ({
      name: service.binding,
      service: service.service === script.name ? designator("main", service) : socketNames.service(i),
    })),
    ...(script.assets?.binding === undefined ? [] : [assetsBinding(script.assets.binding)]),
    ...script.emulated.map((each) =>
      each.kind === "dataset"
        ? wrapped(each.binding, "store:dataset", {})
        : wrapped(each.binding, "store:rate-limiter", {
            limit: each.limit,
            periodSeconds: each.periodSeconds,
          }),
    ),
    ...script.unsupported.map(({ binding, kind, fault = unsupportedFault }) =>
      wrapped(binding, "store:unsupported", { binding, kind, fault }),
    ),
  ];
}

const unsupportedFault = `, which Store does not have. ${unsupportedHint}`;

/** The files of a Workers Site are a key-value namespace, other assets a service. */
function assetsBinding(name: string): ConfigValue {
  return name === siteBinding
    ? { name, kvNamespace: socketNames.assets }
    : { name, service: socketNames.assets };
}

/** A binding whose value a module of Store creates inside the runtime. */
function wrapped(
  name: string,
  moduleName: string,
  settings: Readonly<Record<string, string | number>>,
): ConfigValue {
  const innerBindings = Object.entries(settings).map(([key, value]) => ({
    name: key,
    json: asciiJson(value),
  }));
  return { name, wrapped: { moduleName, innerBindings } };
}
