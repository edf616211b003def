// `store secret …`: manages secrets of a script. Values come from a hidden prompt or stdin, because
// arguments are visible to other users and in the shell's history. Values are never printed.
import { identifierFault, identifierRule } from "../../model/names/identifier.ts";
import { isScriptName, scriptNameRule } from "../../model/names/script-name.ts";
import { envNames } from "../../script/config/env-names.ts";
import { createSecrets } from "../../secrets/secrets.ts";
import type { Command, CommandGroup, Invocation, Option } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { withData } from "../store/open-store.ts";
import { environmentOption, scriptConfig } from "../store/script-config.ts";
import { askHidden } from "../terminal/prompt.ts";
import { readText } from "../terminal/read-text.ts";

const scriptOption: Readonly<Record<string, Option>> = {
  ...environmentOption,
  script: { value: "NAME", summary: "script that owns the secret; default: the script of the configuration" },
};

const putCommand: Command = {
  name: "put",
  summary: "Set a secret",
  details:
    "Prompts for the value on a terminal. Otherwise reads it from stdin, without the final newline.\n" +
    "A running script gets the new value at its next reload.",
  usage: ["<NAME> [--script NAME]"],
  options: scriptOption,
  examples: ["store secret put AUTH_KEY_SECRET", "openssl rand -hex 32 | store secret put AUTH_KEY_SECRET"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    const fault = identifierFault(name);
    if (fault !== undefined) throw usageError(`The name "${name}" ${fault}.`, `Use ${identifierRule}.`);
    const script = scriptName(invocation, name);
    const value = await readValue(invocation, name);
    await withData(invocation, { absent: "create" }, async ({ documents, secretKey, recordAudit }) => {
      await createSecrets(documents, secretKey()).put(script, name, value);
      await recordAudit("put secret", `${script}/${name}`);
    });
    if (output.isJson) await output.json({ script, name });
    else await output.line(`Set ${output.name(name)} of script ${output.name(script)}.`);
  },
};

const listCommand: Command = {
  name: "list",
  summary: "List the names of a script's secrets",
  usage: ["[--script NAME]"],
  options: scriptOption,
  examples: ["store secret list"],
  async run(invocation) {
    const { output } = invocation;
    const script = scriptName(invocation);
    const names = await withData(invocation, { absent: "refuse" }, ({ documents, secretKey }) =>
      createSecrets(documents, secretKey()).list(script),
    );
    if (output.isJson) return output.json(names.map((name) => ({ name })));
    if (names.length === 0)
      output.note(`The script ${script} has no secrets. Set one: store secret put <NAME>`);
    await output.table(
      [{ name: "NAME" }],
      names.map((name) => [name]),
    );
  },
};

const deleteCommand: Command = {
  name: "delete",
  summary: "Delete a secret",
  usage: ["<NAME> [--script NAME]"],
  options: scriptOption,
  examples: ["store secret delete AUTH_KEY_SECRET"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    const script = scriptName(invocation);
    const isDeleted = await withData(
      invocation,
      { absent: "refuse" },
      async ({ documents, secretKey, recordAudit }) => {
        const isDone = await createSecrets(documents, secretKey()).delete(script, name);
        if (isDone) await recordAudit("delete secret", `${script}/${name}`);
        return isDone;
      },
    );
    if (!isDeleted) {
      throw new CommandError(`The script "${script}" has no secret "${name}".`, {
        hint: "List its secrets: store secret list",
      });
    }
    if (output.isJson) await output.json({ script, name, deleted: true });
    else await output.line(`Deleted ${output.name(name)} of script ${output.name(script)}.`);
  },
};

export const secretCommands: CommandGroup = {
  name: "secret",
  summary: "Set, list and delete the secrets of a script",
  commands: [putCommand, listCommand, deleteCommand],
};

/** Returns the script's name. Throws if another binding already has the name `newSecret`. */
function scriptName(invocation: Invocation, newSecret?: string): string {
  const given = invocation.options.text("script");
  if (given !== undefined) {
    if (!isScriptName(given))
      throw usageError(`"${given}" is not a valid script name.`, `Use ${scriptNameRule}.`);
    return given;
  }
  const config = scriptConfig(invocation);
  const conflict = envNames(config).find(({ name }) => name === newSecret);
  if (conflict !== undefined) {
    throw new CommandError(`env.${newSecret} is already ${conflict.what} in the configuration.`, {
      hint: "Choose another name for the secret.",
    });
  }
  return config.name;
}

async function readValue({ output }: Invocation, name: string): Promise<string> {
  const value = process.stdin.isTTY
    ? await askHidden(process.stdin, output, `Value of ${name} (not shown): `)
    : (await readText(process.stdin, "The value")).replace(/\r?\n$/, "");
  if (value === "") throw new CommandError("The value is empty; nothing was changed.");
  return value;
}
