// Bundles a script with esbuild into one module: TypeScript, npm imports, text files and WebAssembly; node:
// modules stay imports. Rebuilding is incremental.
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuildContext, type BuildFailure, context, formatMessages, type Plugin } from "esbuild";

export interface Bundle {
  readonly file: string;
  /** Every file that went into it, for whoever watches them. */
  readonly inputs: readonly string[];
  /** Removes the file; a process that has imported it does not need it any more. */
  discard(): Promise<void>;
}

export interface Bundler {
  /** Rejects with a BundleError that shows file, line and column. */
  build(): Promise<Bundle>;
  close(): Promise<void>;
}

export class BundleError extends Error {
  override readonly name = "BundleError";
}

export interface BundlerOptions {
  readonly main: string;
  /** The folder of the config: paths in messages are relative to it. */
  readonly directory: string;
  /** Where bundles are written; each build under a name of its own, so that none is imported twice. */
  readonly output: string;
  readonly name: string;
}

export function createBundler(options: BundlerOptions): Bundler {
  const { main, directory, output, name } = options;
  let build: Promise<BuildContext> | undefined;
  let count = 0;

  return {
    async build() {
      build ??= openContext(main, directory);
      try {
        const { outputFiles, metafile } = await (await build).rebuild();
        const file = join(output, `${name}-${++count}.mjs`);
        await writeFile(file, outputFiles![0]!.contents);
        const inputs = Object.keys(metafile!.inputs).map((input) => join(directory, input));
        return { file, inputs, discard: () => rm(file, { force: true }) };
      } catch (error) {
        throw await bundleError(error);
      }
    },
    async close() {
      await (await build)?.dispose();
    },
  };
}

function openContext(main: string, directory: string): Promise<BuildContext> {
  return context({
    entryPoints: [main],
    absWorkingDir: directory,
    bundle: true,
    write: false,
    outdir: directory,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "inline",
    metafile: true,
    logLevel: "silent",
    loader: { ".txt": "text", ".html": "text" },
    plugins: [webAssembly],
    // Packages in CommonJS call require for node's own modules.
    banner: {
      js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);',
    },
  });
}

async function bundleError(error: unknown): Promise<unknown> {
  const { errors } = error as Partial<BuildFailure>;
  if (errors === undefined) return error;
  const messages = await formatMessages(errors, { kind: "error" });
  return new BundleError(messages.join("").trimEnd());
}

/** `import module from "./x.wasm"` gives a WebAssembly.Module. */
const webAssembly: Plugin = {
  name: "webassembly",
  setup(build) {
    build.onLoad({ filter: /\.wasm$/ }, async ({ path }) => {
      const bytes = (await readFile(path)).toString("base64");
      return {
        contents: `export default new WebAssembly.Module(Buffer.from("${bytes}", "base64"));`,
        loader: "js",
      };
    });
  },
};
