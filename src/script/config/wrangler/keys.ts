// All keys of a wrangler file: keys that Store reads, keys that have no effect in Store, and kinds
// of bindings that Store does not support. Any other key is reported as a mistake.
import type { KnownKeys } from "../syntax/fields.ts";

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Ignored keys: they configure deployment and monitoring on Cloudflare. */
export const ignoredKeys: readonly string[] = words(`
  account_id zone_id workers_dev preview_urls usage_model observability logpush placement limits
  upload_source_maps minify keep_names keep_vars send_metrics tail_consumers streaming_tail_consumers
  no_bundle find_additional_modules preserve_file_names base_dir node_compat first_party_worker
  compliance_region python_modules migrations exports cloudchamber containers access cache previews logfwdr
  legacy_env dependencies_instrumentation addresses connect type webpack_config
`);

/** Keys that a build tool adds to the file that it generates. */
const generatedKeys: readonly string[] = words(`
  configPath userConfigPath topLevelName definedEnvironments targetEnvironment
`);

/** Keys that have an effect in Store. */
const readKeys: readonly string[] = words(`
  $schema name main compatibility_date compatibility_flags route routes triggers vars env assets site
  r2_buckets kv_namespaces define alias tsconfig jsx_factory jsx_fragment rules build dev secrets
  pages_build_output_dir version_metadata
`);

/** A kind of binding for which Store has no service. */
export interface ForeignBinding {
  /** Path of the entries in the file: a list of tables, or one table. */
  readonly path: readonly string[];
  readonly nameKey: "binding" | "name";
  /** Name of the kind with its article, for messages. */
  readonly kind: string;
  readonly keys: readonly string[];
}

function foreignBinding(path: string, kind: string, keys: string): ForeignBinding {
  const all = words(keys);
  const nameKey = all[0] === "name" ? "name" : "binding";
  return { path: path.split("."), nameKey, kind, keys: [...all, "remote", "experimental_remote"] };
}

export const foreignBindings: readonly ForeignBinding[] = [
  foreignBinding(
    "d1_databases",
    "a D1 database",
    `binding database_name database_id preview_database_id migrations_table migrations_dir migrations_pattern
     database_internal_env`,
  ),
  foreignBinding("queues.producers", "a queue", "binding queue delivery_delay"),
  foreignBinding("durable_objects.bindings", "a Durable Object", "name class_name script_name environment"),
  foreignBinding(
    "workflows",
    "a workflow",
    "binding name class_name script_name limits schedules concurrency default_retention",
  ),
  foreignBinding("vectorize", "a Vectorize index", "binding index_name"),
  foreignBinding("hyperdrive", "a Hyperdrive configuration", "binding id localConnectionString"),
  foreignBinding(
    "send_email",
    "an email sender",
    "name destination_address allowed_destination_addresses allowed_sender_addresses",
  ),
  foreignBinding("mtls_certificates", "an mTLS certificate", "binding certificate_id"),
  foreignBinding("dispatch_namespaces", "a dispatch namespace", "binding namespace outbound"),
  foreignBinding("pipelines", "a pipeline", "binding pipeline stream"),
  foreignBinding("k2", "a K2 stream", "binding stream"),
  foreignBinding("analytics", "an analytics binding", "binding"),
  foreignBinding("secrets_store_secrets", "a Secrets Store secret", "binding store_id secret_name"),
  foreignBinding("worker_loaders", "a worker loader", "binding"),
  foreignBinding("vpc_services", "a VPC service", "binding service_id"),
  foreignBinding("vpc_networks", "a VPC network", "binding tunnel_id network_id"),
  foreignBinding("ai_search", "an AI Search instance", "binding instance_name"),
  foreignBinding("ai_search_namespaces", "an AI Search namespace", "binding namespace"),
  foreignBinding("agent_memory", "an agent memory", "binding namespace"),
  foreignBinding("artifacts", "an artifacts namespace", "binding namespace"),
  foreignBinding("flagship", "a Flagship app", "binding app_id"),
  foreignBinding("unsafe_hello_world", "a hello world binding", "binding enable_timer"),
  foreignBinding("ai", "the AI binding", "binding staging"),
  foreignBinding("browser", "the browser binding", "binding"),
  foreignBinding("images", "the images binding", "binding"),
  foreignBinding("media", "the media binding", "binding"),
  foreignBinding("stream", "the stream binding", "binding"),
  foreignBinding("websearch", "the web search binding", "binding"),
];

/** Calls other scripts. Exists only in a sandbox; in a process it is a foreign binding. */
export const serviceKind = foreignBinding(
  "services",
  "a service binding",
  "binding service environment entrypoint props",
);

/** Kinds that Store emulates inside the process of a script. */
const emulatedBindings: readonly ForeignBinding[] = [
  foreignBinding("ratelimits", "a rate limiter", "name namespace_id simple type"),
  foreignBinding("analytics_engine_datasets", "a dataset", "binding dataset"),
];

/** Bindings to files by name, as scripts in the service-worker syntax use them. */
export const blobBindings: Readonly<Record<string, string>> = {
  wasm_modules: "a WebAssembly module binding",
  text_blobs: "a text file binding",
  data_blobs: "a data file binding",
};

const bindings = [...foreignBindings, serviceKind, ...emulatedBindings];
const bindingTables = Object.fromEntries(bindings.map(({ path, keys }) => [path.join("."), keys]));
const bindingKeys = [...new Set(bindings.map(({ path }) => path[0]!))];

export const wranglerKeys: KnownKeys = {
  "": [...readKeys, ...generatedKeys, ...ignoredKeys, ...bindingKeys, ...Object.keys(blobBindings), "unsafe"],
  ...bindingTables,
  queues: ["producers", "consumers"],
  durable_objects: ["bindings", "code_update_strategy"],
  r2_buckets: words(
    "binding bucket_name preview_bucket_name jurisdiction remote experimental_remote local_dev",
  ),
  kv_namespaces: words("binding id preview_id remote experimental_remote"),
  assets: words(
    "directory binding not_found_handling html_handling run_worker_first experimental_serve_directly",
  ),
  triggers: words("crons events"),
  version_metadata: ["binding"],
  routes: words("pattern zone_name zone_id custom_domain enabled previews_enabled"),
  route: words("pattern zone_name zone_id custom_domain enabled previews_enabled"),
  rules: words("type globs fallthrough"),
  site: words("bucket include exclude entry-point"),
  build: words("command cwd watch_dir upload"),
  dev: words(
    `ip port inspector_port inspector_ip local_protocol upstream_protocol host enable_containers
     container_engine generate_types`,
  ),
  secrets: ["required"],
  unsafe: words("bindings metadata capnp"),
};

/** Keys that an environment does not inherit from the top level of the file. */
export const ownWranglerKeys: readonly string[] = [
  ...words("vars define env r2_buckets kv_namespaces unsafe secrets version_metadata"),
  ...words("tail_consumers streaming_tail_consumers cloudchamber containers connect"),
  ...bindingKeys,
];
