// Finds the wrangler file that a build generated. Build tools, such as the Vite plugin, name it in
// .wrangler/deploy/config.json of the project, as a path relative to that file.
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isFile } from "../rules.ts";
import { type ConfigError, configError } from "../syntax/error.ts";
import { isTable } from "../syntax/fields.ts";
import type { ConfigPath } from "../syntax/positions.ts";
import { type ConfigSource, detectKind, readSource } from "../syntax/source.ts";

export const deployFile = join(".wrangler", "deploy", "config.json");

export interface GeneratedConfig {
  /** Absolute path of the generated wrangler file. */
  readonly file: string;
  /** Wrangler files of further scripts of the same build. */
  readonly others: readonly string[];
}

/** Returns the generated wrangler file of the project in a directory; undefined without a build. */
export function findGenerated(directory: string): GeneratedConfig | undefined {
  const path = resolve(directory, deployFile);
  if (!existsSync(path)) return undefined;
  const source = readSource(path);
  const { value } = source;
  if (!isTable(value)) throw fault(source, [], "A build writes an object here.");
  const others = Array.isArray(value.auxiliaryWorkers) ? value.auxiliaryWorkers : [];
  return {
    file: findTarget(source, directory, ["configPath"], value.configPath),
    others: others.flatMap((other: unknown, index) => {
      const target = isTable(other) ? other.configPath : undefined;
      return findTarget(source, directory, ["auxiliaryWorkers", index, "configPath"], target);
    }),
  };
}

function findTarget(source: ConfigSource, directory: string, path: ConfigPath, value: unknown): string {
  if (typeof value !== "string" || value === "") {
    const at = source.positions.has(path) ? path : [];
    throw fault(source, at, '"configPath" must be the path of the generated wrangler file.');
  }
  const file = resolve(dirname(source.file), value);
  if (!isFile(file))
    throw fault(source, path, `The build's configuration ${quote(directory, file)} is missing.`);
  // Resolves links, so that a build that someone else wrote cannot name a file of another project.
  if (!realpathSync(file).startsWith(realpathSync(directory) + sep)) {
    throw fault(
      source,
      path,
      `The build's configuration ${quote(directory, file)} is outside of the project.`,
    );
  }
  if (detectKind(file) !== "wrangler") {
    throw fault(source, path, `${JSON.stringify(basename(file))} is not the name of a wrangler file.`);
  }
  return file;
}

function quote(directory: string, file: string): string {
  return JSON.stringify(relative(resolve(directory), file));
}

function fault(source: ConfigSource, path: ConfigPath, message: string): ConfigError {
  const hint =
    "Run the build again, for example: npm run build\n" +
    `Or delete ${deployFile} to run the project without its build.`;
  return configError(source, [{ span: source.positions.find(path).value, message, hint }]);
}
