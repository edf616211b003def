// Decides whether a script may run: behind the wall, or without it where that is allowed. The check
// runs once for each binary of the runtime.
import { LoadError } from "../host/host-process.ts";
import { checkWall } from "./wall/check-wall.ts";
import type { WallCheck, WallTools } from "./wall/types.ts";

/** Returns the wall's tools, or undefined to run without the wall; rejects with a LoadError. */
export type FindWall = (script: string, binary: string) => Promise<WallTools | undefined>;

export interface WallsOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Start also where the wall cannot be built. */
  readonly allowsUnwalled: boolean;
  readonly log: (line: string) => void;
}

export function createWalls({ environment, allowsUnwalled, log }: WallsOptions): FindWall {
  const checks = new Map<string, Promise<WallCheck>>();
  const printed = new Set<string>();

  function logOnce(line: string): void {
    if (printed.has(line)) return;
    printed.add(line);
    log(line);
  }

  return async (script, binary) => {
    const check = checks.get(binary) ?? checkWall({ environment, workerd: binary });
    checks.set(binary, check);
    const result = await check;
    if (result.kind === "ready") {
      for (const warning of result.warnings) logOnce(warning);
      return result.tools;
    }
    if (result.kind === "unsupported") {
      logOnce(
        `Warning: script "${script}" runs in an isolate, but without the wall around its process: only Linux ` +
          "has the wall. Do not run code here that you do not trust.",
      );
      return undefined;
    }
    if (allowsUnwalled) {
      logOnce(
        `Warning: script "${script}" runs without the wall, as --allow-unwalled says. Missing: ${result.what} ` +
          "Do not run code here that you do not trust.",
      );
      return undefined;
    }
    throw new LoadError(
      `Script "${script}" cannot run in a sandbox: ${result.what}\n` +
        "To start it in an isolate without the wall, which is not safe for code that you do not trust, " +
        "use --allow-unwalled.",
    );
  };
}
