// `store key import`: adds an access key of another system, so that its clients need no change.
import type { Command } from "../../framework/command.ts";
import { usageError } from "../../framework/command-error.ts";
import { withData } from "../../store/open-store.ts";
import { openCredentials } from "./key-store.ts";
import { readSecret, requireOneSource } from "./secret-input.ts";
import { formatGrants, keyJson, keySettingOptions, parseKeySettings, throwUsageError } from "./settings.ts";

export const importCommand: Command = {
  name: "import",
  summary: "Add an access key with a given id and secret",
  details:
    "For clients of another system that keep their id and secret. The secret has 8 to 128 characters and is\n" +
    "read from stdin or a file. An id that already exists is refused.",
  usage: [
    "--id ID --secret-stdin [--name NAME] [--grant BUCKET:RIGHTS]...",
    "--id ID --secret-file FILE [--name NAME] [--grant BUCKET:RIGHTS]...",
  ],
  options: {
    id: { value: "ID", summary: "access key id, 3 to 128 characters" },
    "secret-stdin": { summary: "read the secret access key from stdin" },
    "secret-file": { value: "FILE", summary: "read the secret access key from a file" },
    ...keySettingOptions,
  },
  examples: [
    "store key import --id AKIAIOSFODNN7EXAMPLE --secret-file secret.txt --name backup",
    "pass show old-store | store key import --id backup-user --secret-stdin --grant backups:read,append",
  ],
  async run(invocation) {
    const { options, output } = invocation;
    const accessKeyId = options.text("id");
    if (accessKeyId === undefined) throw usageError("Specify the access key id: --id ID.");
    const file = options.text("secret-file");
    requireOneSource(options.flag("secret-stdin"), file, ["--secret-stdin", "--secret-file"]);
    const readSettings = parseKeySettings(invocation);
    const secretAccessKey = await readSecret(invocation, file);
    const imported = await withData(invocation, { absent: "create" }, async (data) => {
      const settings = await readSettings(data);
      const key = await openCredentials(data)
        .import({ accessKeyId, secretAccessKey }, settings)
        .catch(throwUsageError);
      await data.recordAudit("import key", accessKeyId);
      return key;
    });
    if (output.isJson) return output.json(keyJson(imported));
    await output.fields([
      ["access key id", accessKeyId],
      ["name", imported.name ?? "–"],
      ["account", imported.account],
      ["grants", formatGrants(imported.grants)],
      ["expires", imported.expires === undefined ? "never" : output.time(imported.expires)],
    ]);
  },
};
