// Bundles a script with esbuild into one module: TypeScript, npm imports, text files and WebAssembly; node:
// modules stay imports. Rebuilding is incremental.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildContext, type BuildFailure, context, type Message, type Plugin } from "esbuild";
import type { BundlingOptions } from "./config/check-bundling.ts";
import { moduleRules } from "./config/module-rules.ts";
import { faultText } from "./fault-text.ts";

export interface Bundle {
  /** Every file that went into it, for whoever watches them. */
  readonly inputs: readonly string[];
  /** Writes it to a file for one process to import, which does not need it any more afterwards. */
  place(): Promise<PlacedBundle>;
}

export interface PlacedBundle {
  readonly file: string;
  remove(): Promise<void>;
}

export interface Bundler {
  /** Rejects with a BundleError that shows file, line and column. */
  build(): Promise<Bundle>;
  close(): Promise<void>;
}

export class BundleError extends Error {
  override readonly name = "BundleError";
  /** The files it speaks of, also those that are missing: whoever watches waits for a change of them. */
  readonly files: readonly string[];

  constructor(message: string, files: readonly string[]) {
    super(message);
    this.files = files;
  }
}

export interface BundlerOptions {
  readonly main: string;
  /** The folder of the config: paths in messages are relative to it. */
  readonly directory: string;
  readonly bundling?: BundlingOptions | undefined;
}

export function createBundler({ main, directory, bundling = {} }: BundlerOptions): Bundler {
  let build: Promise<BuildContext> | undefined;

  return {
    async build() {
      build ??= openContext(main, directory, bundling);
      try {
        const { outputFiles, metafile } = await (await build).rebuild();
        const { contents } = outputFiles![0]!;
        const inputs = Object.keys(metafile!.inputs).map((input) => join(directory, input));
        return { inputs, place: () => place(contents) };
      } catch (error) {
        throw bundleError(error, directory);
      }
    },
    async close() {
      await (await build)?.dispose();
    },
  };
}

/** Not kept: a folder for temporary files may be tidied up while the server runs on. */
async function place(contents: Uint8Array): Promise<PlacedBundle> {
  const folder = await mkdtemp(join(tmpdir(), "store-bundle-"));
  const file = join(folder, "script.mjs");
  await writeFile(file, contents);
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}

function openContext(main: string, directory: string, bundling: BundlingOptions): Promise<BuildContext> {
  const { rules = [], ...options } = bundling;
  return context({
    ...options,
    entryPoints: [main],
    absWorkingDir: directory,
    bundle: true,
    write: false,
    outdir: directory,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "inline",
    sourceRoot: pathToFileURL(join(directory, "/")).href,
    metafile: true,
    logLevel: "silent",
    loader: { ".txt": "text", ".html": "text" },
    plugins: [...(rules.length === 0 ? [] : [moduleRules(rules, directory)]), webAssembly],
    // Packages in CommonJS call require for node's own modules.
    banner: {
      js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);',
    },
  });
}

function bundleError(error: unknown, directory: string): unknown {
  const { errors } = error as Partial<BuildFailure>;
  if (errors === undefined) return error;
  const files = errors.flatMap(({ location, text }) => {
    if (location === null) return [];
    const [, missing] = /^Could not resolve "(\.[^"]*)"/.exec(text) ?? [];
    const file = join(directory, location.file);
    return missing === undefined ? [file] : [file, join(dirname(file), missing)];
  });
  return new BundleError(errors.map(textOf).join("\n\n"), files);
}

function textOf(error: Message): string {
  const { text: message, location } = error;
  const hint = adviceOn(error);
  if (location === null) return hint === undefined ? message : `${message}\n  ${hint}`;
  const { file: path, line, lineText: source, column, length } = location;
  // esbuild counts bytes.
  const bytes = Buffer.from(source);
  const units = (from: number, to: number) => bytes.subarray(from, to).toString().length;
  return faultText({
    ...{ path, line, source, message, hint },
    column: units(0, column) + 1,
    length: units(column, column + length),
  });
}

/** What esbuild would advise on modules is for those who call it themselves. */
function adviceOn({ text, notes }: Message): string | undefined {
  const [, name] = /^Could not resolve "((?:@[^"/]+\/)?[^"./@][^"/]*)/.exec(text) ?? [];
  if (name !== undefined) return `Is it installed? npm install ${name}`;
  if (text.startsWith("Could not resolve") || notes.length === 0) return undefined;
  return notes.map((note) => note.text).join("\n");
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
