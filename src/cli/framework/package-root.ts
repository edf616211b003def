// Installation folder and version of the package that contains this command.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    if (dirname(folder) === folder)
      throw new Error("The package that contains this command has no package.json.");
    folder = dirname(folder);
  }
  return folder;
}

export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
