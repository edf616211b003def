// Bundles a script and its npm packages into one module with esbuild. Imports of Node's own modules
// are kept. Rebuilds are incremental.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type BuildContext,
  type BuildFailure,
  type BuildOptions,
  context,
  type Message,
  type Metafile,
  type Plugin,
} from "esbuild";
import type { BundlingOptions } from "../config/check-bundling.ts";
import { moduleRules } from "../config/module-rules.ts";
import { faultText } from "../config/syntax/code-frame.ts";
import { numberTimers } from "../globals/timers.ts";
import type { BundleFormat } from "../host/messages.ts";
import {
  binaryFiles,
  isFileInput,
  nodeModules,
  platformModules,
  siteModule,
  textLoaders,
  webAssembly,
  workersResolution,
} from "./bundle-plugins.ts";
import { findForeignInput } from "./check-inputs.ts";
import {
  type BundleModule,
  createEmbeddedModules,
  type EmbeddedModules,
  FormatError,
} from "./embedded-modules.ts";
import { installAdvice } from "./install-advice.ts";

export interface Bundle {
  /** All input files, to watch for changes. */
  readonly inputs: readonly string[];
  readonly format: BundleFormat;
  /** The modules of a bundle for workerd, the main module first; empty for a process. */
  readonly modules: readonly BundleModule[];
  /** Source map of the main module, unless the module contains it. */
  readonly sourceMap: string | undefined;
  /** Writes the module to a temporary file. It can be removed once a process has imported it. */
  writeToFile(): Promise<BundleFile>;
}

export interface BundleFile {
  readonly file: string;
  remove(): Promise<void>;
}

export interface Bundler {
  /** Rejects with a BundleError that contains file, line and column. */
  build(): Promise<Bundle>;
  close(): Promise<void>;
}

export class BundleError extends Error {
  override readonly name = "BundleError";
  /** Files named in the errors, even if missing. A change to any of them starts a new build. */
  readonly files: readonly string[];

  constructor(message: string, files: readonly string[]) {
    super(message);
    this.files = files;
  }
}

export interface BundlerOptions {
  readonly main: string;
  /** Folder of the configuration; paths in messages are relative to it. */
  readonly directory: string;
  readonly bundling?: BundlingOptions | undefined;
  /** Builds of npm packages; `workers`: for workers and browsers, as in wrangler. Default: node. */
  readonly packages?: "node" | "workers" | undefined;
  /** Value of NODE_ENV. Default: production. */
  readonly nodeEnv?: "development" | "production" | undefined;
  /** Return type of setTimeout and setInterval. Default: Timeout objects of Node. */
  readonly timers?: "numbers" | "objects" | undefined;
  /** JSON text of the manifest of a Workers Site. Default: an empty one. */
  readonly siteManifest?: string | undefined;
  /** What runs the bundle. For workerd, `packages` and `timers` have no effect. Default: process. */
  readonly target?: "process" | "workerd" | undefined;
}

export function createBundler(options: BundlerOptions): Bundler {
  const { main, directory, target = "process" } = options;
  const embedded = target === "workerd" ? createEmbeddedModules(options.siteManifest) : undefined;
  let build: Promise<BuildContext> | undefined;

  return {
    async build() {
      build ??= openContext(options, embedded);
      try {
        const { outputFiles, metafile } = await (await build).rebuild();
        const { contents } = outputFiles!.find(({ path }) => path.endsWith(".js"))!;
        const inputs = Object.keys(metafile!.inputs)
          .filter(isFileInput)
          .map((input) => join(directory, input));
        if (embedded !== undefined) await checkInputs(inputs, options);
        const entry = relative(directory, main);
        const format = detectFormat(metafile!, entry, contents);
        const isSloppy = format === "service-worker" && isScript(metafile!, entry);
        const modules = (await embedded?.collect({ contents, format, metafile: metafile! })) ?? [];
        const map = outputFiles!.find(({ path }) => path.endsWith(".js.map"));
        return {
          inputs,
          format,
          modules,
          // A script that was rewritten after the build has other positions.
          sourceMap: modules[0]?.contents === contents ? map?.text : undefined,
          writeToFile() {
            if (embedded !== undefined) return writeToFolder(modules);
            return isSloppy
              ? writeToFolder([{ name: "script.cjs", contents: withoutBanner(contents) }])
              : writeToFolder([{ name: "script.mjs", contents }]);
          },
        };
      } catch (error) {
        if (error instanceof BundleError) throw error;
        if (error instanceof FormatError) throw new BundleError(error.message, [main]);
        throw bundleError(error, directory);
      }
    },
    async close() {
      await (await build)?.dispose();
    },
  };
}

async function checkInputs(inputs: readonly string[], options: BundlerOptions): Promise<void> {
  const aliases = Object.values(options.bundling?.alias ?? {});
  const foreign = await findForeignInput(inputs, { ...options, aliases });
  if (foreign === undefined) return;
  throw new BundleError(
    `The script imports "${relative(options.directory, foreign)}", which is outside of its folder. A sandboxed ` +
      "script contains only files of its folder, of the packages in node_modules, and those that alias in the " +
      "configuration names: copy the file to the folder.",
    [foreign],
  );
}

/** Uses a new folder for each bundle: the system may remove old temporary folders. */
async function writeToFolder(files: readonly Pick<BundleModule, "name" | "contents">[]): Promise<BundleFile> {
  const folder = await mkdtemp(join(tmpdir(), "store-bundle-"));
  for (const { name, contents } of files) await writeFile(join(folder, name), contents);
  const file = join(folder, files[0]!.name);
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A script without a default export is a service worker. */
function detectFormat(metafile: Metafile, main: string, contents: Uint8Array): BundleFormat {
  // esbuild adds a default export to CommonJS files, so these are searched for listeners.
  const hasListeners = () => Buffer.from(contents).includes("addEventListener(");
  if (metafile.inputs[main]?.format === "cjs" && hasListeners()) return "service-worker";
  const entry = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint !== undefined);
  return entry?.exports.includes("default") === false ? "service-worker" : "module";
}

/** Whether the code has no import or export: such older scripts must run in sloppy mode. */
function isScript({ inputs, outputs }: Metafile, main: string): boolean {
  const imports = Object.values(outputs).flatMap((output) => output.imports);
  return inputs[main]?.format === undefined && !imports.some(({ kind }) => kind === "import-statement");
}

/** Defines require, with which CommonJS packages load Node's own modules. */
const banner =
  'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);';

/** The banner contains no line break, so the line numbers of the source map stay valid. */
function withoutBanner(contents: Uint8Array): Uint8Array {
  return contents.subarray(Buffer.byteLength(banner));
}

function openContext(
  { main, directory, bundling = {}, ...options }: BundlerOptions,
  embedded: EmbeddedModules | undefined,
): Promise<BuildContext> {
  const { rules = [], define, ...settings } = bundling;
  const { plugins, ...targetOptions } = embedded?.buildOptions ?? processOptions(options);
  return context({
    ...settings,
    entryPoints: [main],
    absWorkingDir: directory,
    bundle: true,
    write: false,
    outdir: directory,
    format: "esm",
    sourceRoot: pathToFileURL(join(directory, "/")).href,
    metafile: true,
    logLevel: "silent",
    loader: textLoaders,
    define: { ...definitions(options), ...define },
    ...targetOptions,
    plugins: [...(rules.length === 0 ? [] : [moduleRules(rules, directory, embedded?.format)]), ...plugins],
  });
}

function processOptions({
  packages,
  siteManifest,
}: Pick<BundlerOptions, "packages" | "siteManifest">): BuildOptions & { plugins: Plugin[] } {
  const plugins = [webAssembly(), binaryFiles(), platformModules, siteModule(siteManifest)];
  const output: BuildOptions = { target: "node20", sourcemap: "inline", banner: { js: banner } };
  if (packages !== "workers") return { ...output, platform: "node", plugins };
  return { ...output, ...workersResolution, plugins: [...plugins, nodeModules] };
}

type DefinitionOptions = Pick<BundlerOptions, "nodeEnv" | "timers" | "target">;

function definitions({ nodeEnv = "production", timers, target }: DefinitionOptions) {
  const definitionsByPath: Record<string, string> = {};
  const nodeEnvPath = ["process", "env", "NODE_ENV"];
  for (const path of [nodeEnvPath, ["globalThis", ...nodeEnvPath], ["global", ...nodeEnvPath]]) {
    definitionsByPath[path.join(".")] = JSON.stringify(nodeEnv);
  }
  if (timers !== "numbers" || target === "workerd") return definitionsByPath;
  for (const [name, replacement] of Object.entries(numberTimers)) {
    for (const scope of ["", "globalThis.", "self."]) definitionsByPath[`${scope}${name}`] = replacement;
  }
  return definitionsByPath;
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
  return new BundleError(errors.map((message) => formatMessage(message, directory)).join("\n\n"), files);
}

function formatMessage(error: Message, directory: string): string {
  const { text: message, location } = error;
  const hint = hintFor(error, directory);
  if (location === null) return hint === undefined ? message : `${message}\n  ${hint}`;
  const { file: path, line, lineText: source, column, length } = location;
  // esbuild counts columns in bytes.
  const bytes = Buffer.from(source);
  const units = (from: number, to: number) => bytes.subarray(from, to).toString().length;
  return faultText({
    ...{ path, line, source, message, hint },
    column: units(0, column) + 1,
    length: units(column, column + length),
  });
}

/** Omits esbuild's hints about its options, which users cannot set. */
function hintFor({ text, notes }: Message, directory: string): string | undefined {
  const [, name] = /^Could not resolve "((?:@[^"/]+\/)?[^"./@][^"/]*)/.exec(text) ?? [];
  if (name !== undefined) return installAdvice(name, directory);
  if (text.startsWith("Could not resolve") || notes.length === 0) return undefined;
  return notes.map((note) => note.text).join("\n");
}
