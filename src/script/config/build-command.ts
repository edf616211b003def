// The build command of a wrangler file, run before the script starts.
import { dirname, resolve } from "node:path";
import { isTable } from "./syntax/fields.ts";
import { detectKind, readSource } from "./syntax/source.ts";
import { selectWranglerEnvironment } from "./wrangler/generated.ts";

export interface BuildCommand {
  readonly command: string;
  /** Absolute path of the working directory. */
  readonly directory: string;
}

/** Reads only the build command; faults in the rest of the file are not reported here. */
export function readBuildCommand(file: string, environment: string | undefined): BuildCommand | undefined {
  if (detectKind(file) !== "wrangler") return undefined;
  const { value } = selectWranglerEnvironment(readSource(file), environment);
  const build = isTable(value) ? value.build : undefined;
  if (!isTable(build) || typeof build.command !== "string" || build.command.trim() === "") return undefined;
  return {
    command: build.command,
    directory: resolve(dirname(file), typeof build.cwd === "string" ? build.cwd : "."),
  };
}
