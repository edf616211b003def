// What tests of sandboxes need on this machine: the runtime, which is a development dependency, and
// the tools of the wall, which are installed from Debian where they are missing.
import { spawnSync } from "node:child_process";
import { checkWall } from "../../../src/script/sandbox/wall/check-wall.ts";
import type { WallCheck } from "../../../src/script/sandbox/wall/types.ts";
import { installFromDebian } from "../../support/debian.ts";
import { workerd } from "../../support/workerd/start-workerd.ts";

/** Programs of the wall, and the packages that have them. */
const packages = { bwrap: "bubblewrap", prlimit: "util-linux" };

if (process.platform === "linux") {
  installFromDebian(() =>
    Object.entries(packages).flatMap(([program, name]) =>
      spawnSync(program, ["--version"]).error === undefined ? [] : [name],
    ),
  );
}

export const wallCheck: WallCheck = await checkWall({ environment: process.env, workerd });

/** Why tests of sandboxes cannot run here; false if they can. */
export const skip: string | false = describeObstacle(wallCheck);
if (skip !== false) console.error(`NOT TESTED: ${skip}`);

function describeObstacle(check: WallCheck): string | false {
  if (check.kind === "ready") return false;
  return check.kind === "missing" ? check.what : "This system has no wall.";
}
