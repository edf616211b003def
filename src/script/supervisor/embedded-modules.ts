// Bundles for workerd, which compiles WebAssembly only from modules of its configuration: WebAssembly
// and binary files become modules beside the script. Modules of the runtime are not bundled.
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { type BuildOptions, type Metafile, type Plugin, transform } from "esbuild";
import type { FormatModule } from "../config/module-rules.ts";
import type { BundleFormat } from "../host/messages.ts";
import {
  binaryFiles,
  nodeModuleName,
  requireNamespace,
  siteModule,
  webAssembly,
  workersResolution,
} from "./bundle-plugins.ts";

export interface BundleModule {
  /** File name; the script imports the module as `./NAME`. */
  readonly name: string;
  readonly kind: "esm" | "wasm" | "text" | "data";
  readonly contents: Uint8Array;
}

export interface EmbeddedModules {
  readonly buildOptions: BuildOptions & { readonly plugins: Plugin[] };
  /** Keeps the file as a module, and returns code that imports it. */
  readonly format: FormatModule;
  /** Returns the modules of a build. Rejects with a FormatError if workerd cannot run them. */
  collect(built: BuiltScript): Promise<readonly BundleModule[]>;
}

export interface BuiltScript {
  readonly contents: Uint8Array;
  readonly format: BundleFormat;
  readonly metafile: Metafile;
}

/** The script is valid, but its format cannot run in workerd. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}

const mainName = "script.js";
/** The runtime has newer syntax, but not yet all that TypeScript has. */
const languageVersion = "es2024";
const embeddedPrefix = "store-embedded:";

export function createEmbeddedModules(siteManifest?: string): EmbeddedModules {
  const modulesByName = new Map<string, BundleModule>();

  const format: FormatModule = ({ path, kind, bytes }) => {
    const name = embeddedName(path, bytes);
    modulesByName.set(name, { name, kind, contents: bytes });
    return `export { default } from ${JSON.stringify(embeddedPrefix + name)};`;
  };

  return {
    format,
    buildOptions: {
      ...workersResolution,
      target: languageVersion,
      sourcemap: "external",
      sourcesContent: false,
      plugins: [
        webAssembly(format),
        binaryFiles(format),
        embeddedImports,
        siteModule(siteManifest),
        requiredNodeModules,
        runtimeModules,
      ],
    },
    async collect({ contents, format: bundleFormat, metafile }) {
      const entry = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint !== undefined)!;
      const imports = new Set(entry.imports.map(({ path }) => path));
      // Forget modules of earlier builds that the script no longer imports.
      for (const name of modulesByName.keys()) {
        if (!imports.has(importPrefix + name)) modulesByName.delete(name);
      }
      if (bundleFormat === "module") {
        return [{ name: mainName, kind: "esm", contents }, ...modulesByName.values()];
      }
      if (imports.size > 0) throw new FormatError(linkedServiceWorker);
      const script = entry.exports.length === 0 ? contents : await withoutExports(contents);
      return [{ name: mainName, kind: "esm", contents: script }];
    },
  };
}

const linkedServiceWorker =
  "This script has no default export, so it runs as a service worker. In the sandbox, a service worker " +
  "cannot import WebAssembly, binary files or modules of the runtime: " +
  "export a default object with a fetch method instead.";

/** A service worker is not a module, but CommonJS files get an export when they are bundled. */
async function withoutExports(contents: Uint8Array): Promise<Uint8Array> {
  const { code } = await transform(contents, { format: "iife", target: languageVersion, logLevel: "silent" });
  return Buffer.from(code);
}

const importPrefix = "./";

/** The hash keeps files of the same name apart, and changes with the contents. */
function embeddedName(path: string, bytes: Buffer): string {
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return `${hash}-${basename(path).replace(/[^\w.-]/g, "_")}`;
}

const embeddedImports: Plugin = {
  name: "embedded-imports",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${embeddedPrefix}`) }, ({ path }) => ({
      path: importPrefix + path.slice(embeddedPrefix.length),
      external: true,
    }));
  },
};

/** CommonJS packages require Node's modules, but workerd has no require: import them instead. */
const requiredNodeModules: Plugin = {
  name: "required-node-modules",
  setup(build) {
    build.onResolve({ filter: nodeModuleName }, ({ path, kind }) => {
      const name = path.startsWith("node:") ? path : `node:${path}`;
      if (kind === "require-call") return { path: name, namespace: requireNamespace };
      return { path: name, external: true };
    });
    build.onLoad({ filter: /.*/, namespace: requireNamespace }, ({ path }) => ({
      contents: `import required from ${JSON.stringify(path)}; module.exports = required;`,
      loader: "js",
    }));
  },
};

const runtimeModules: Plugin = {
  name: "runtime-modules",
  setup(build) {
    build.onResolve({ filter: /^cloudflare:/ }, ({ path }) => ({ path, external: true }));
  },
};
