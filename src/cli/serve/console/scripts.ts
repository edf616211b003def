// Provides the console with the running scripts and their logs.
import { relative } from "node:path";
import type { ConsoleScripts } from "../../../console/api/administration/scripts.ts";
import { ConsoleError } from "../../../console/response.ts";
import { errorMessage } from "../../../model/errors.ts";
import { envNames } from "../../../script/config/env-names.ts";
import type { ScriptLog } from "../../../script/supervisor/script-log.ts";
import type { ScriptServer } from "../../../script/supervisor/supervisor.ts";
import { createSecrets, SecretError } from "../../../secrets/secrets.ts";
import type { Data } from "../../store/open-store.ts";

export function consoleScripts(
  server: ScriptServer | undefined,
  log: ScriptLog,
  { documents, secretKey }: Data,
): ConsoleScripts {
  const scripts = server?.scripts ?? [];
  const openSecrets = () => createSecrets(documents, secretKey());
  return {
    async list() {
      const secrets = openSecrets();
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
    async putSecret(name, secret, value) {
      const script = scripts.find(({ config }) => config.name === name);
      if (script === undefined) throw new ConsoleError(404, "There is no such script on this server.");
      const conflict = envNames(script.config).find((one) => one.name === secret);
      if (conflict !== undefined) {
        throw new ConsoleError(400, `env.${secret} is already ${conflict.what} in the configuration.`, {
          hint: "Choose another name for the secret.",
        });
      }
      if (value === "") throw new ConsoleError(400, "The value is empty; nothing was changed.");
      await withConsoleErrors(() => openSecrets().put(name, secret, value));
    },
    deleteSecret: (name, secret) => withConsoleErrors(() => openSecrets().delete(name, secret)),
  };
}

async function withConsoleErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SecretError) throw new ConsoleError(400, error.message);
    throw error;
  }
}
