// `env.__STATIC_CONTENT` of a Workers Site, the predecessor of static assets: a KV namespace whose
// keys are the names of files in the manifest, or their paths.
import { checkType, getOptions, kvKeyArgument } from "../../binding/kv-arguments.ts";
import type { AssetsOptions } from "../bindings.ts";
import { siteBinding } from "../config/wrangler/site-names.ts";
import type { Assets } from "./assets.ts";
import { bindAssets } from "./assets-binding.ts";
import { sitePaths } from "./site-manifest.ts";

export interface SiteBinding {
  get(key: unknown, options?: unknown): Promise<unknown>;
  getWithMetadata(key: unknown, options?: unknown): Promise<unknown>;
  list(): Promise<never>;
  put(): Promise<never>;
  delete(): Promise<never>;
}

export function bindSite(assets: Assets, options: AssetsOptions): SiteBinding {
  const files = bindAssets(assets, options);

  async function open(name: string): Promise<Response | null> {
    for (const path of sitePaths(name)) {
      const encoded = path.split("/").map(encodeURIComponent).join("/");
      const response = await files.fetch(`http://site/${encoded}`, { redirect: "manual" });
      if (response.status === 200) return response;
      await response.body?.cancel();
    }
    return null;
  }

  async function read(key: unknown, callOptions: unknown): Promise<unknown> {
    const type = checkType(getOptions(callOptions));
    const response = await open(kvKeyArgument(key));
    if (response === null) return null;
    if (type === "stream") return response.body;
    if (type === "arrayBuffer") return response.arrayBuffer();
    return type === "json" ? response.json() : response.text();
  }

  async function refuse(): Promise<never> {
    throw new TypeError(`env.${siteBinding} only reads: the files are those of ${options.directory}.`);
  }

  return {
    get: read,
    async getWithMetadata(key, callOptions) {
      return { value: await read(key, callOptions), metadata: null, cacheStatus: null };
    },
    list: refuse,
    put: refuse,
    delete: refuse,
  };
}
