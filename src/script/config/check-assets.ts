// The table `assets` of a configuration: static files that are served beside a script, or without one.
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { AssetsOptions } from "../bindings.ts";
import type { Fields, Table } from "../config-fields.ts";
import { asIdentifier, identifierFault, identifierRule } from "../identifier.ts";
import { nearest } from "../nearest.ts";

const notFoundHandlings = ["none", "404-page", "single-page-application"] as const;
const htmlHandlings = ["auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none"] as const;
const maxPatterns = 100;
const maxPatternLength = 100;

/** Undefined when there is no such table. */
export function checkAssets(fields: Fields, top: Table): AssetsOptions | undefined {
  if (top.assets === undefined) return undefined;
  const line = fields.line("directory", "public");
  const example = fields.source.format === "toml" ? `\n    [assets]\n    ${line}` : `"assets": { ${line} }`;
  const table = fields.table(["assets"], top.assets, example) ?? {};
  const options: AssetsOptions = {
    directory: checkDirectory(fields, table),
    binding: checkBinding(fields, table),
    notFoundHandling: checkChoice(fields, table, "not_found_handling", notFoundHandlings) ?? "none",
    htmlHandling: checkChoice(fields, table, "html_handling", htmlHandlings) ?? "auto-trailing-slash",
    runWorkerFirst: checkRunWorkerFirst(fields, table),
  };
  if (top.main === undefined) checkAlone(fields, top, options);
  return options;
}

/** Without a script there is nothing that could use these. */
function checkAlone(fields: Fields, top: Table, { binding, runWorkerFirst }: AssetsOptions): void {
  const hint = `Name the script: ${fields.line("main", "src/index.ts")}\nOr remove the key.`;
  if (binding !== undefined) {
    const message = 'A binding of assets needs a script to use it, and "main" is missing.';
    fields.tell(["assets", "binding"], { message, hint });
  }
  if (runWorkerFirst !== false) {
    const message = 'No script can run first: "main" is missing.';
    fields.tell(["assets", "run_worker_first"], { message, hint });
  }
  if (top.triggers !== undefined) {
    fields.tell(["triggers"], { message: 'No script can be triggered: "main" is missing.', hint });
  }
}

function checkDirectory(fields: Fields, table: Table): string {
  const path = ["assets", "directory"];
  const example = fields.line("directory", "public");
  if (table.directory === undefined) fields.missing(path, `Add the folder with the files: ${example}`);
  const written = fields.string(path, table.directory, example);
  if (written === undefined) return "";
  const directory = resolve(dirname(fields.source.file), written);
  const stats = written === "" ? undefined : statSync(directory, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) {
    const what = JSON.stringify(written);
    fields.tell(path, {
      message: stats === undefined ? `There is no folder ${what}.` : `${what} is not a folder.`,
      hint: `The path begins at the folder of the configuration; looked for ${directory}\nIf a build writes it, run the build first.`,
    });
  }
  return directory;
}

function checkBinding(fields: Fields, table: Table): string | undefined {
  const path = ["assets", "binding"];
  const binding = fields.string(path, table.binding, fields.line("binding", "ASSETS"));
  if (binding === undefined) return undefined;
  const fault = identifierFault(binding);
  if (fault !== undefined) {
    fields.tell(path, {
      message: `The binding ${JSON.stringify(binding)} ${fault}: a binding is ${identifierRule}.`,
      hint: `Write: ${fields.line("binding", asIdentifier(binding))}`,
    });
  }
  return binding;
}

function checkChoice<Choice extends string>(
  fields: Fields,
  table: Table,
  key: string,
  choices: readonly Choice[],
): Choice | undefined {
  const path = ["assets", key];
  const written = fields.string(path, table[key], fields.line(key, choices[0]));
  if (written === undefined) return undefined;
  const choice = choices.find((one) => one === written);
  if (choice === undefined) {
    const near = nearest(written, choices);
    fields.tell(path, {
      message: `"${key}" cannot be ${JSON.stringify(written)}${near === undefined ? "." : `: did you mean ${JSON.stringify(near)}?`}`,
      hint: `Its values are: ${choices.join(", ")}`,
    });
  }
  return choice;
}

function checkRunWorkerFirst(fields: Fields, table: Table): AssetsOptions["runWorkerFirst"] {
  const path = ["assets", "run_worker_first"];
  const value = table.run_worker_first;
  if (value === undefined || typeof value === "boolean") return value ?? false;
  const example = fields.line("run_worker_first", ["/api/*", "!/api/docs/*"]);
  const elements = fields.list(path, value, example);
  const patterns = elements.flatMap((element) => {
    const pattern = fields.string(element.path, element.value, example);
    if (pattern === undefined) return [];
    const fault = patternFault(pattern);
    if (fault !== undefined) fields.tell(element.path, { message: fault, hint: `For example: ${example}` });
    return [pattern];
  });
  if (!Array.isArray(value)) return false;
  if (patterns.length > maxPatterns) {
    fields.tell(path, { message: `"run_worker_first" can have at most ${maxPatterns} patterns.` });
  }
  if (patterns.every((pattern) => pattern.startsWith("!"))) {
    const message = '"run_worker_first" names no path that goes to the script.';
    fields.tell(path, { message, hint: `For example: ${example}` });
  }
  return patterns;
}

function patternFault(pattern: string): string | undefined {
  if (!/^!?\//.test(pattern)) return `The pattern ${JSON.stringify(pattern)} must begin with / or !/.`;
  if (pattern.length <= maxPatternLength) return undefined;
  return `The pattern ${JSON.stringify(pattern)} has more than ${maxPatternLength} characters.`;
}
