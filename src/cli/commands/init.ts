// `store init`: creates a working project in a new or existing folder.
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { asScriptName } from "../../model/names/script-name.ts";
import { readConfig } from "../../script/config/config.ts";
import { configNames } from "../../script/config/find-config.ts";
import { envTypes, typesFile } from "../../script/config/types-file.ts";
import type { Command } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { fileError } from "../framework/failures.ts";
import { packageRoot, packageVersion } from "../framework/package-root.ts";
import { pathArgument } from "../framework/path-argument.ts";
import { shellWord } from "../framework/shell-quote.ts";
import { initFrom } from "../init/init-from.ts";
import { type Project, projectFiles } from "../init/project-template.ts";
import { displayPath } from "../store/open-store.ts";

export const initCommand: Command = {
  name: "init",
  summary: "Create a project: configuration, script and README",
  details:
    "Uses the given folder or the current one. Existing files are never overwritten. With --from, only converts\n" +
    "the wrangler.toml, .json or .jsonc of an existing project to a store.toml.",
  usage: ["[dir]", "--from DIR"],
  options: {
    from: {
      value: "DIR",
      summary: "wrangler file, or its folder; writes a store.toml next to it",
    },
  },
  examples: ["store init photos", "store init", "store init --from ."],
  async run(invocation) {
    const { parameters, output, directory, options } = invocation;
    const from = options.text("from");
    if (from !== undefined) {
      if (parameters.length > 0) {
        throw usageError("With --from, store.toml is written next to the wrangler file.", [
          "Leave out the folder: store init --from DIR",
        ]);
      }
      return initFrom(invocation, from);
    }
    const folder = pathArgument(invocation, { label: "store init", text: parameters[0] ?? "." });
    const project = projectFor(folder);
    const files = projectFiles(project);
    refuseOverwriting(folder, displayPath(invocation, folder), [
      ...Object.keys(files),
      ...configNames,
      typesFile,
    ]);
    const written = await writeAll(folder, files);
    if (output.isJson) return output.json({ directory: folder, name: project.name, files: written });
    const { bold } = output.style;
    await output.line(
      `Created the project ${output.name(project.name)} in ${output.name(displayPath(invocation, folder))}:`,
    );
    await output.line(written.map((file) => `  ${file}`).join("\n"));
    const steps = [
      ...(folder === directory ? [] : [`cd ${shellWord(displayPath(invocation, folder))}`]),
      // Without a global installation, npx finds `store` only after `npm install` in the project.
      ...(output.typed("store dev") === "store dev" ? [] : ["npm install"]),
      `store bucket create ${project.bucket}`,
      "store dev",
    ];
    await output.line(`Next:\n${steps.map((step) => `  ${bold(output.typed(step))}`).join("\n")}`);
  },
};

function projectFor(folder: string): Project {
  const name = asScriptName(basename(folder)) ?? "project";
  const path = relative(folder, packageRoot());
  return {
    name,
    // Bucket names have at least three characters.
    bucket: name.length < 3 ? `${name}-bucket` : name,
    compatibilityDate: new Date().toISOString().slice(0, 10),
    dependency: path.includes("_npx") ? `^${packageVersion()}` : fileDependency(path),
  };
}

/** Returns a `file:` dependency on a folder, which npm can link without access to a registry. */
function fileDependency(path: string): string {
  return `file:${isAbsolute(path) || path.startsWith(".") ? path : `./${path}`}`;
}

function refuseOverwriting(folder: string, path: string, names: readonly string[]): void {
  const found = [...new Set(names)].filter((name) => existsSync(join(folder, name)));
  if (found.length === 0) return;
  throw new CommandError(`"${path}" already contains ${found.join(", ")}; nothing was written.`, {
    hint: "Use another folder: store init <dir>",
  });
}

/** Writes all files. If one cannot be written, removes the files written so far. */
async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const written: string[] = [];
  const write = async (name: string, text: string) => {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text, { flag: "wx" });
    written.push(name);
  };
  try {
    for (const [name, text] of Object.entries(files)) await write(name, text);
    await write(typesFile, envTypes(readConfig(join(folder, "store.toml")), []));
    return written;
  } catch (error) {
    for (const name of written) await rm(join(folder, name), { force: true });
    throw fileError(error, "create a project in", folder);
  }
}
