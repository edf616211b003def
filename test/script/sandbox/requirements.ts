// What tests of sandboxes need on this machine: the runtime, and the tools of the wall.
import { findRuntime } from "../../../src/script/sandbox/runtime/find-runtime.ts";
import { checkWall } from "../../../src/script/sandbox/wall/check-wall.ts";
import { root } from "../../cli/store.ts";

/** Why tests of sandboxes cannot run here; false if they can. */
export const skip: string | false = await findObstacle();

async function findObstacle(): Promise<string | false> {
  const search = findRuntime([root]);
  if (search.kind === "missing") return search.message;
  const check = await checkWall({ environment: process.env, workerd: search.runtime.binary });
  if (check.kind === "ready") return false;
  return check.kind === "missing" ? check.what : "This system has no wall.";
}
