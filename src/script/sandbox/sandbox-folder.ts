// The private folder of one sandbox: its files, which the runtime reads, and its sockets. If Store
// runs as root, the folder belongs to the user of the sandbox.
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type SandboxUser, temporaryFolder } from "./temporary-folder.ts";

export interface SandboxFolder {
  readonly files: string;
  readonly sockets: string;
  write(name: string, content: string | Uint8Array): Promise<void>;
  remove(): Promise<void>;
}

export async function createSandboxFolder(user: SandboxUser | undefined): Promise<SandboxFolder> {
  const path = await mkdtemp(join(await temporaryFolder(user), "store-sandbox-"));
  const [files, sockets] = [join(path, "files"), join(path, "sockets")];
  await mkdir(files, { mode: 0o700 });
  await mkdir(sockets, { mode: 0o700 });
  if (user !== undefined) for (const each of [path, files, sockets]) await chown(each, user.uid, user.gid);
  return {
    ...{ files, sockets },
    async write(name, content) {
      const file = join(files, name);
      // Secrets are among the values, so no other user may read them.
      await writeFile(file, content, { mode: 0o400 });
      if (user !== undefined) await chown(file, user.uid, user.gid);
      await chmod(file, 0o400);
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
