// `env.__STATIC_CONTENT` of a Workers Site, the predecessor of static assets: a KV namespace whose
// keys are the file paths. Scripts look up each path in a manifest, then in this namespace.
import { checkType, getOptions, kvKeyArgument } from "../../binding/kv-arguments.ts";
import type { AssetsOptions } from "../bindings.ts";
import { siteBinding } from "../config/wrangler/site-names.ts";
import type { Assets } from "./assets.ts";
import { bindAssets } from "./assets-binding.ts";

export interface SiteBinding {
  get(key: unknown, options?: unknown): Promise<unknown>;
  getWithMetadata(key: unknown, options?: unknown): Promise<unknown>;
  list(): Promise<never>;
  put(): Promise<never>;
  delete(): Promise<never>;
}

export function bindSite(assets: Assets, options: AssetsOptions): SiteBinding {
  const files = bindAssets(assets, options);

  async function read(key: unknown, callOptions: unknown): Promise<unknown> {
    const type = checkType(getOptions(callOptions));
    const path = kvKeyArgument(key).split("/").map(encodeURIComponent).join("/");
    const response = await files.fetch(`http://site/${path}`, { redirect: "manual" });
    if (response.status !== 200) {
      await response.body?.cancel();
      return null;
    }
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
