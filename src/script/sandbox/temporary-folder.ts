// Chooses the folder for temporary files of sandboxes. If Store runs as root, sandboxes run as another
// user, who must be able to pass through all folders above their files.
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";

export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/** Used if the user of sandboxes cannot reach the folder for temporary files. */
const commonFolders = ["/run", "/tmp"];

/** `user` is undefined if sandboxes run as the user of this process. */
export async function temporaryFolder(user: SandboxUser | undefined): Promise<string> {
  if (user === undefined) return tmpdir();
  for (const folder of [tmpdir(), ...commonFolders]) if (await isReachable(folder)) return folder;
  throw new Error(
    `The user of a sandbox cannot reach ${tmpdir()}. Set TMPDIR to a folder that all users can reach.`,
  );
}

/** Whether every user may pass through the folder and all folders above it. */
async function isReachable(folder: string): Promise<boolean> {
  for (let path = folder; ; path = dirname(path)) {
    const { mode } = await stat(path).catch(() => ({ mode: 0 }));
    if ((mode & 0o001) === 0) return false;
    if (dirname(path) === path) return true;
  }
}
