// A project as the Vite plugin leaves it after a build: the wrangler file that it generates, with
// every default written out, and the file that points at it.
import type { Project } from "../support/projects.ts";

export const deployConfig = {
  configPath: "../../dist/gallery/wrangler.json",
  auxiliaryWorkers: [] as readonly { readonly configPath: string }[],
};

/** The generated file of a project at `directory`. */
export function generatedConfig(directory: string) {
  return {
    ...{ configPath: `${directory}/wrangler.jsonc`, userConfigPath: `${directory}/wrangler.jsonc` },
    ...{ topLevelName: "gallery", definedEnvironments: ["staging"], name: "gallery", main: "index.js" },
    ...{ compatibility_date: "2026-01-01", compatibility_flags: ["nodejs_compat"] },
    ...{ jsx_factory: "React.createElement", jsx_fragment: "React.Fragment", triggers: {} },
    rules: [{ type: "ESModule", globs: ["**/*.js", "**/*.mjs"] }],
    assets: { binding: "ASSETS", run_worker_first: ["/api/*"], directory: "../client" },
    vars: { GREETING: "hello" },
    r2_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
    ...{ durable_objects: { bindings: [] }, queues: { producers: [], consumers: [] } },
    ...{ workflows: [], migrations: [], exports: {}, kv_namespaces: [], cloudchamber: {}, send_email: [] },
    ...{ connect: [], d1_databases: [], vectorize: [], hyperdrive: [], services: [], pipelines: [], k2: [] },
    ...{ ai_search_namespaces: [], ai_search: [], agent_memory: [], analytics_engine_datasets: [] },
    ...{ dispatch_namespaces: [], mtls_certificates: [], secrets_store_secrets: [], artifacts: [] },
    ...{ unsafe_hello_world: [], flagship: [], worker_loaders: [], ratelimits: [], vpc_services: [] },
    ...{ vpc_networks: [], logfwdr: { bindings: [] }, upload_source_maps: true, no_bundle: true },
    ...{ observability: { enabled: true }, python_modules: { exclude: ["**/*.pyc"] } },
    dev: {
      ...{ ip: "localhost", local_protocol: "http", upstream_protocol: "http" },
      ...{ enable_containers: true, generate_types: false },
    },
  };
}

const script = `export default {
  async fetch(request, { PHOTOS, GREETING }) {
    const key = new URL(request.url).pathname.slice(5);
    if (request.method === "PUT") await PHOTOS.put(key, request.body);
    return new Response(GREETING + " " + (await (await PHOTOS.get(key)).text()));
  },
};
`;

/** The file of the author: the folder of the assets is left to the build. */
const written = `{
  "name": "gallery",
  "main": "src/index.ts",
  "compatibility_date": "2026-01-01",
  "assets": { "binding": "ASSETS", "run_worker_first": ["/api/*"] }
}`;

export async function writeBuild({ directory, write }: Pick<Project, "directory" | "write">): Promise<void> {
  await write("wrangler.jsonc", written);
  await write("dist/client/index.html", "<h1>page</h1>");
  await write("dist/gallery/index.js", script);
  await write("dist/gallery/wrangler.json", JSON.stringify(generatedConfig(directory)));
  await write(".wrangler/deploy/config.json", JSON.stringify(deployConfig));
}
