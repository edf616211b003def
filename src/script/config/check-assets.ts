// Checks the table `assets`: static files, served together with a script or without one.
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { nearest } from "../../model/names/did-you-mean.ts";
import type { AssetsOptions } from "../bindings.ts";
import { checkBinding } from "./rules.ts";
import type { Element, Fields, Table } from "./syntax/fields.ts";

const notFoundChoices = ["none", "404-page", "single-page-application"] as const;
const maxPatterns = 100;
const maxPatternLength = 100;
const htmlChoices = ["auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none"] as const;

/** `isRun`: whether the script will run, which needs the files of its folder. */
export function checkAssets(
  fields: Fields,
  top: Table,
  { isRun }: { readonly isRun: boolean },
): AssetsOptions | undefined {
  const line = fields.line("directory", "./public");
  const example = fields.source.format === "toml" ? `\n    [assets]\n    ${line}` : `"assets": { ${line} }`;
  const assets = fields.table(["assets"], top.assets, example);
  if (assets === undefined) return undefined;
  if (top.main === undefined && top.triggers !== undefined) {
    const message = 'No script can be triggered: "main" is missing.';
    fields.report(["triggers"], { message, hint: nameScriptHint(fields) });
  }
  return {
    directory: isUnbuilt(fields, assets) && !isRun ? "" : checkDirectory(fields, assets, line),
    binding: assets.binding === undefined ? undefined : checkOwnBinding(fields, top, assets.binding),
    notFoundHandling: checkChoice(fields, assets, "not_found_handling", notFoundChoices),
    htmlHandling: checkChoice(fields, assets, "html_handling", htmlChoices),
    runWorkerFirst: checkRunFirst(fields, top, assets.run_worker_first),
  };
}

function nameScriptHint(fields: Fields): string {
  return `Name the script: ${fields.line("main", "src/index.ts")}\nOr remove the key.`;
}

/** Build tools, such as the Vite plugin, set the folder in the file that they generate. */
function isUnbuilt({ source }: Fields, { directory }: Table): boolean {
  return source.kind === "wrangler" && directory === undefined;
}

function checkDirectory(fields: Fields, assets: Table, line: string): string {
  const path = ["assets", "directory"];
  if (assets.directory === undefined) {
    const build = "\nIf a build sets it, run that build first, for example: npm run build";
    fields.missing(path, `Add the folder of the files: ${line}${isUnbuilt(fields, assets) ? build : ""}`);
  }
  const written = fields.string(path, assets.directory, line);
  if (written === undefined) return "";
  const directory = resolve(dirname(fields.source.file), written);
  const stats = statSync(directory, { throwIfNoEntry: false });
  if (written === "" || stats?.isDirectory() !== true) {
    const why =
      written === ""
        ? "The path of the folder is empty."
        : stats === undefined
          ? `There is no folder ${JSON.stringify(written)}.`
          : `${JSON.stringify(written)} is not a folder.`;
    const where = `The path begins at the folder of ${basename(fields.source.file)}; looked for ${directory}`;
    const build = /(^|[\\/])node_modules([\\/]|$)/.test(written)
      ? "It belongs to a package: run npm install first."
      : "If a build makes it, run that build first, for example: npm run build";
    fields.report(path, { message: why, hint: `${where}\n${build}` });
  }
  return directory;
}

function checkOwnBinding(fields: Fields, top: Table, value: unknown): string {
  const path = ["assets", "binding"];
  if (top.main === undefined) {
    fields.report(path, {
      message: "Assets that are served without a script have no binding.",
      hint: "Remove it, or name the script with main.",
    });
  }
  return checkBinding(fields, path, value, "ASSETS");
}

/** Returns the value of `key`; default: the first choice. */
function checkChoice<T extends string>(fields: Fields, assets: Table, key: string, choices: readonly T[]): T {
  const path = ["assets", key];
  const text = fields.string(path, assets[key], fields.line(key, choices[0]!));
  const found = choices.find((one) => one === text);
  if (text !== undefined && found === undefined) {
    const near = nearest(text, choices);
    fields.report(path, {
      message: `"${key}" cannot be ${JSON.stringify(text)}${near === undefined ? "." : `: did you mean ${near}?`}`,
      hint: `It is one of: ${choices.join(", ")}`,
    });
  }
  return found ?? choices[0]!;
}

function checkRunFirst(fields: Fields, top: Table, value: unknown): boolean | readonly string[] {
  const path = ["assets", "run_worker_first"];
  if (value !== undefined && value !== false && top.main === undefined) {
    fields.report(path, {
      message: 'No script can run first: "main" is missing.',
      hint: nameScriptHint(fields),
    });
  }
  if (value === undefined || typeof value === "boolean") return value ?? false;
  const example = fields.line("run_worker_first", ["/api/*"]);
  if (!Array.isArray(value)) {
    const message = '"assets.run_worker_first" must be true, false or a list of paths.';
    fields.report(path, { message, hint: `Write: ${example}` });
    return false;
  }
  if (value.length > maxPatterns) {
    fields.report(path, { message: `"run_worker_first" can have at most ${maxPatterns} paths.` });
  }
  const patterns = fields
    .list(path, value, example)
    .flatMap((element) => checkPattern(fields, element, example));
  if (patterns.every((pattern) => pattern.startsWith("!"))) {
    const message = '"run_worker_first" names no path that goes to the script.';
    fields.report(path, { message, hint: `For example: ${example}` });
  }
  return patterns;
}

function checkPattern(fields: Fields, { path, value }: Element, example: string): string[] {
  const pattern = fields.string(path, value, example);
  if (pattern === undefined) return [];
  if (!/^!?\//.test(pattern)) {
    const hint = `Write: "/${pattern.replace(/^!/, "")}", or "!/${pattern.replace(/^!/, "")}" for an exception`;
    fields.report(path, {
      message: `The path ${JSON.stringify(pattern)} does not begin with a slash.`,
      hint,
    });
  }
  if (pattern.length > maxPatternLength) {
    fields.report(path, {
      message: `The path ${JSON.stringify(pattern)} has more than ${maxPatternLength} characters.`,
    });
  }
  return [pattern];
}
