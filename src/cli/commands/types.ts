// `store types`: writes the types of a script's `env` next to its configuration.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { envTypes, typesFile } from "../../script/config/types-file.ts";
import { createSecrets } from "../../secrets/secrets.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { fileError, systemCode } from "../framework/failures.ts";
import { displayPath, hasData, withData } from "../store/open-store.ts";
import { environmentOption, sourceConfig } from "../store/script-config.ts";
import { storeLocation } from "../store/store-location.ts";

export const typesCommand: Command = {
  name: "types",
  summary: "Write the types of the script's env to store-env.d.ts",
  details:
    "Bindings and variables come from the configuration, the names of secrets from the data directory.\n" +
    "With --check nothing is written, and the exit code is 1 if the file is out of date.",
  usage: ["[--check] [--secret NAME]..."],
  options: {
    ...environmentOption,
    check: { summary: "only check whether the file is up to date" },
    secret: {
      value: "NAME",
      summary: "name of a secret that is not set here, for example in CI",
      repeatable: true,
    },
  },
  examples: ["store types", "store types --check", "store types --check --secret AUTH_KEY_SECRET"],
  async run(invocation) {
    const { options, output } = invocation;
    const config = sourceConfig(invocation);
    const file = join(config.directory, typesFile);
    const secrets = new Set([...(await storedSecrets(invocation, config.name)), ...options.texts("secret")]);
    const expected = envTypes(config, [...secrets]);
    const isChanged = (await readIfExists(file)) !== expected;
    if (options.flag("check") && isChanged) {
      throw new CommandError(`${displayPath(invocation, file)} is out of date.`, {
        hint: "Update it: store types",
      });
    }
    if (isChanged) await write(file, expected);
    if (output.isJson) await output.json({ file, changed: isChanged });
    else
      await output.line(
        `${isChanged ? "Wrote" : "Up to date:"} ${output.name(displayPath(invocation, file))}`,
      );
  },
};

/** Returns no secrets if there is no store: this command must not create a data directory. */
async function storedSecrets(invocation: Invocation, script: string): Promise<string[]> {
  if (!hasData(await storeLocation(invocation))) return [];
  return withData(invocation, { absent: "refuse" }, ({ documents, secretKey }) =>
    createSecrets(documents, secretKey()).list(script),
  );
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", file);
  }
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw fileError(error, "write", file);
  }
}
