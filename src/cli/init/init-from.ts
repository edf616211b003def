// `store init --from`: writes a store.toml for a project with a wrangler file.
import { existsSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { readConfig } from "../../script/config/config.ts";
import { configNames, wranglerNames } from "../../script/config/find-config.ts";
import { storeToml } from "../../script/config/store-toml.ts";
import { ConfigError } from "../../script/config/syntax/error.ts";
import { detectKind, readSource } from "../../script/config/syntax/source.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { fileError } from "../framework/failures.ts";
import { pathArgument } from "../framework/path-argument.ts";
import { displayPath } from "../store/open-store.ts";

/** Writes store.toml next to the wrangler file; never overwrites a file. */
export async function initFrom(invocation: Invocation, from: string): Promise<void> {
  const { output } = invocation;
  const source = wranglerFile(invocation, pathArgument(invocation, { label: "--from", text: from }));
  const folder = dirname(source);
  refuseExisting(invocation, folder);
  const { text, leftOut } = storeToml(readSource(source), new Date().toISOString().slice(0, 10));
  const file = join(folder, "store.toml");
  try {
    await writeFile(file, text, { flag: "wx" });
  } catch (error) {
    throw fileError(error, "write", file);
  }
  const toFix = findFaults(file);
  if (output.isJson) return output.json({ file, from: source, leftOut, toFix: toFix ?? null });
  await output.line(
    `Wrote ${output.name(displayPath(invocation, file))} from ${displayPath(invocation, source)}.`,
  );
  if (leftOut.length > 0) {
    await output.line(`Left out or replaced:\n${leftOut.map((item) => `  ${item}`).join("\n")}`);
  }
  if (toFix !== undefined) await output.line(`Fix this before you start the project:\n\n${toFix}`);
  else await output.line(output.typed("Next:\n  store dev --create-buckets"));
}

function wranglerFile(invocation: Invocation, path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() && detectKind(path) === "wrangler") return path;
  const name = wranglerNames.find((name) => existsSync(join(path, name)));
  if (stats?.isDirectory() && name !== undefined) return join(path, name);
  const where = displayPath(invocation, path);
  throw new CommandError(
    stats === undefined
      ? `There is no "${where}".`
      : `There is no wrangler.toml, .json or .jsonc in "${where}".`,
    { hint: "Use a folder that contains one: store init --from DIR" },
  );
}

function refuseExisting(invocation: Invocation, folder: string): void {
  const found = configNames.filter((name) => existsSync(join(folder, name)));
  if (found.length === 0) return;
  throw new CommandError(
    `"${displayPath(invocation, folder)}" already contains ${found.join(", ")}; nothing was written.`,
    { hint: `Move or delete ${basename(found[0]!)} first.` },
  );
}

/** Validates the new store.toml: its rules are stricter than the rules for wrangler files. */
function findFaults(file: string): string | undefined {
  try {
    readConfig(file);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}
