// A working directory for commands, with a profile "work" of a service in this process.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Engine } from "../../../../src/engine/engine.ts";
import { temporaryDirectory } from "../../../support/stores.ts";
import { type CommandRunner, createRunner } from "../../in-process.ts";
import { openService } from "../../store/remote/service.ts";

export interface Desk extends CommandRunner {
  readonly directory: string;
  /** The engine of the service that the profile "work" names. */
  readonly engine: Engine;
  /** Writes a file below the directory and returns its path. */
  write(name: string, text: string): Promise<string>;
  keys(bucket: string): Promise<string[]>;
}

/** Where the commands run: `where` is the default store. The service has the bucket "shelf". */
export async function openDesk(t: TestContext, where: "files" | "service"): Promise<Desk> {
  const directory = await temporaryDirectory(t);
  const { engine, port, accessKeyId, secretAccessKey } = await openService(t);
  const environment = {
    HOME: directory,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    ...(where === "service" ? { STORE_PROFILE: "work" } : {}),
  };
  const runner = createRunner({ directory, environment });
  await runner.store("profile", "add", "work", "--endpoint", `http://127.0.0.1:${port}`);
  await runner.store("bucket", "create", "photos");
  return {
    ...runner,
    directory,
    engine,
    async write(name, text) {
      await mkdir(join(directory, name, ".."), { recursive: true });
      await writeFile(join(directory, name), text);
      return join(directory, name);
    },
    async keys(bucket) {
      const listed = JSON.parse(await runner.store("object", "list", bucket, "--json")) as { key: string }[];
      return listed.map(({ key }) => key);
    },
  };
}
