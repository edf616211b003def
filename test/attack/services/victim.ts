// A folder, a store and a profile of a lying service, and what commands write there.
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type CommandRunner, createRunner } from "../../cli/in-process.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { type LyingService, openLyingService } from "./lying-s3.ts";

export const secret = "secret-of-the-service";

export interface Victim extends CommandRunner {
  readonly service: LyingService;
  /** Path and text of every file below the working directory, but for the store and the profiles. */
  files(): Promise<Readonly<Record<string, string>>>;
  /** Keys of the local bucket "local". */
  keys(): Promise<readonly string[]>;
}

/** In `./dest`, `link` and `link-file` lead to `./outside`; `mine` is a file that no object is named as. */
export async function openVictim(t: TestContext): Promise<Victim> {
  const service = await openLyingService(t);
  const directory = await temporaryDirectory(t);
  for (const folder of ["dest", "outside"]) await mkdir(join(directory, folder));
  await symlink("../outside", join(directory, "dest", "link"));
  await symlink("../outside/file", join(directory, "dest", "link-file"));
  await writeFile(join(directory, "dest", "mine"), "mine");
  const environment = { HOME: directory, AWS_ACCESS_KEY_ID: "AKIDVICTIM", AWS_SECRET_ACCESS_KEY: secret };
  const runner = createRunner({ directory, environment });
  await runner.store("profile", "add", "work", "--endpoint", `http://127.0.0.1:${service.port}`);
  await runner.store("bucket", "create", "local");

  async function readFiles(folder: string): Promise<(readonly [string, string])[]> {
    const entries = await readdir(join(directory, folder), { withFileTypes: true });
    const found = entries.map(async (entry): Promise<(readonly [string, string])[]> => {
      const path = join(folder, entry.name);
      if (folder === "." && entry.name.startsWith(".")) return [];
      if (entry.isDirectory()) return readFiles(path);
      if (entry.isSymbolicLink()) return [];
      return [[path, await readFile(join(directory, path), "latin1")]];
    });
    return (await Promise.all(found)).flat();
  }

  return {
    ...runner,
    service,
    files: async () => Object.fromEntries((await readFiles(".")).sort()),
    async keys() {
      const listed = JSON.parse(await runner.store("object", "list", "local", "--json")) as { key: string }[];
      return listed.map(({ key }) => key);
    },
  };
}
