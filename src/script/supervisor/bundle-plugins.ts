// esbuild plugins for imports other than JavaScript: WebAssembly, raw bytes, modules of the platform, and Node's
// own modules.
import { readFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import type { Loader, Plugin } from "esbuild";
import { siteManifest, siteManifestName } from "../config/wrangler/site-names.ts";
import {
  isPlatformModule,
  type PlatformModule,
  platformExports,
  platformValuesExpression,
} from "../host/platform/exports.ts";

/** Files that are imported as text. */
export const textLoaders: Readonly<Record<string, Loader>> = {
  ".txt": "text",
  ".html": "text",
  ".htm": "text",
  ".md": "text",
  ".sql": "text",
  ".svg": "text",
  ".css": "text",
};

/** `import module from "./x.wasm"` gives a WebAssembly.Module; a query `?module` is allowed. */
export const webAssembly: Plugin = {
  name: "webassembly",
  setup(build) {
    build.onResolve({ filter: /\.wasm\?module$/ }, ({ path, importer, resolveDir, kind }) =>
      build.resolve(path.slice(0, path.lastIndexOf("?")), { importer, resolveDir, kind }),
    );
    build.onLoad({ filter: /\.wasm$/ }, async ({ path }) => ({
      contents: `export default new WebAssembly.Module(${bytesExpression(await readFile(path))});`,
      loader: "js",
    }));
  },
};

/** `import bytes from "./x.bin"` gives an ArrayBuffer. */
export const binaryFiles: Plugin = {
  name: "binary-files",
  setup(build) {
    build.onLoad({ filter: /\.bin$/ }, async ({ path }) => ({
      contents: `export default new Uint8Array(${bytesExpression(await readFile(path))}).buffer;`,
      loader: "js",
    }));
  },
};

/** Avoids the global name Buffer, which a script may redefine. */
function bytesExpression(bytes: Buffer): string {
  return `globalThis.process.getBuiltinModule("node:buffer").Buffer.from("${bytes.toString("base64")}", "base64")`;
}

const platformNamespace = "store-platform";
const siteNamespace = "store-site";

/** Modules `cloudflare:*`; the process that runs the script provides their values. */
export const platformModules: Plugin = {
  name: "platform-modules",
  setup(build) {
    build.onResolve({ filter: /^cloudflare:/ }, ({ path }) => {
      if (isPlatformModule(path)) return { path, namespace: platformNamespace, sideEffects: false };
      const moduleNames = Object.keys(platformExports).join(", ");
      return { errors: [{ text: `There is no module "${path}". Store has: ${moduleNames}` }] };
    });
    build.onLoad({ filter: /.*/, namespace: platformNamespace }, ({ path }) => ({
      contents: platformSource(path as PlatformModule),
      loader: "js",
    }));
  },
};

function platformSource(name: PlatformModule): string {
  const values = `const values = ${platformValuesExpression}[${JSON.stringify(name)}];`;
  const isWorkers = name === "cloudflare:workers";
  const names = platformExports[name].filter((exported) => !isWorkers || !/^(env|withEnv)$/.test(exported));
  const lines = names.map((exported) => `export const ${exported} = values.${exported};`);
  if (!isWorkers) return [values, ...lines].join("\n");
  return [
    values,
    ...lines,
    "export let env = values.env;",
    "export const withEnv = (given, work) => values.withEnv(given, work, (replaced) => { env = replaced; });",
  ].join("\n");
}

/** Modules that use a Workers Site import its manifest under this name. */
export const siteModule: Plugin = {
  name: "site-manifest",
  setup(build) {
    const filter = new RegExp(`^${siteManifestName}$`);
    build.onResolve({ filter }, ({ path }) => ({ path, namespace: siteNamespace, sideEffects: false }));
    build.onLoad({ filter, namespace: siteNamespace }, () => ({ contents: siteManifest, loader: "text" }));
  },
};

/** Whether an input of a bundle is a file. */
export function isFileInput(input: string): boolean {
  return ![platformNamespace, siteNamespace].some((namespace) => input.startsWith(`${namespace}:`));
}

/** Node's modules stay imports, with and without `node:`, also where packages are resolved as for browsers. */
export const nodeModules: Plugin = {
  name: "node-modules",
  setup(build) {
    const names = builtinModules.filter((name) => !name.startsWith("_") && !name.startsWith("node:"));
    const filter = new RegExp(`^(?:node:.+|${names.join("|")})$`);
    build.onResolve({ filter }, ({ path }) => ({
      path: path.startsWith("node:") ? path : `node:${path}`,
      external: true,
    }));
  },
};
