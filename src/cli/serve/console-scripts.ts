// Provides the console with the running scripts and their logs.
import { relative } from "node:path";
import type { ConsoleScripts } from "../../console/api/scripts.ts";
import { ConsoleError } from "../../console/response.ts";
import { errorMessage } from "../../model/errors.ts";
import type { ScriptLog } from "../../script/supervisor/script-log.ts";
import type { ScriptServer } from "../../script/supervisor/supervisor.ts";
import { createSecrets } from "../../secrets/secrets.ts";
import type { Data } from "../store/open-store.ts";

export function consoleScripts(
  server: ScriptServer | undefined,
  log: ScriptLog,
  { documents, secretKey }: Data,
): ConsoleScripts {
  const scripts = server?.scripts ?? [];
  return {
    async list() {
      const secrets = createSecrets(documents, secretKey());
      return Promise.all(
        scripts.map(async ({ config: { name, file, routes, crons, buckets, vars } }) => ({
          ...{ name, routes, schedules: crons },
          file: relative(process.cwd(), file),
          buckets: buckets.map(({ binding, bucketName }) => ({ binding, bucket: bucketName })),
          variables: Object.keys(vars),
          secrets: await secrets.list(name),
        })),
      );
    },
    faults: log.faults,
    lines: log.after,
    async restart(name) {
      const script = scripts.find(({ config }) => config.name === name);
      await script?.restart().catch((error: unknown) => {
        throw new ConsoleError(409, errorMessage(error), { hint: "The previous version keeps running." });
      });
      return script !== undefined;
    },
  };
}
