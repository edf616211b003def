// `store key …`: manages access keys of the S3 API. A secret is shown only when its key is created.

import type { ListedCredential } from "../../../access/keys/credentials.ts";
import type { Command, CommandGroup } from "../../framework/command.ts";
import { importCommand } from "./import.ts";
import { withKeys } from "./key-store.ts";
import { formatGrants, keyJson, keySettingOptions, limitFields } from "./settings.ts";
import { disableCommand, enableCommand, noSuchKey, rotateCommand } from "./state.ts";
import { tempCommand } from "./temp.ts";

const createCommand: Command = {
  name: "create",
  summary: "Create an access key for the S3 API",
  details: "Without --grant the key has full access to its account. The secret is shown only once.",
  usage: [
    "[--name NAME] [--account NAME] [--grant BUCKET:RIGHTS]... [--expires TIME] [--requests-per-second N] [--bytes-per-second SIZE]",
  ],
  options: keySettingOptions,
  examples: [
    "store key create",
    "store key create --name reports --grant photos:read,list --expires 30d",
    "store key create --grant photos/2026/*:read,append",
    "store key create --account backup --grant backups:read,write,list,delete --json",
  ],
  async run(invocation) {
    const { output } = invocation;
    const credential = await withKeys(invocation, "create", (keys) => keys.create());
    const { accessKeyId, secretAccessKey } = credential;
    if (output.isJson) return output.json({ ...keyJson(credential), secretAccessKey });
    await output.fields([
      ["access key id", accessKeyId],
      ["secret access key", secretAccessKey],
      ...(credential.name === undefined ? [] : [["name", credential.name] as const]),
      ["account", credential.account],
      ["grants", formatGrants(credential.grants)],
      ["expires", credential.expires === undefined ? "never" : output.time(credential.expires)],
      ...limitFields(credential.limits, output),
    ]);
    output.note("Save the secret access key now: it is not shown again.");
  },
};

const listCommand: Command = {
  name: "list",
  summary: "List all access keys, without their secrets",
  usage: [""],
  options: {},
  examples: ["store key list"],
  async run(invocation) {
    const { output } = invocation;
    const keys = await withKeys(invocation, "refuse", (found) => found.list());
    if (output.isJson) return output.json(keys.map(listedJson));
    if (keys.length === 0) output.note("There are no access keys yet. Create one: store key create");
    const names = ["ACCESS KEY ID", "NAME", "ACCOUNT", "STATE", "CREATED", "EXPIRES", "LAST USED", "GRANTS"];
    await output.table(
      names.map((name) => ({ name })),
      keys.map(({ accessKeyId, name, account, state, created, expires, lastUsed, grants }) => [
        accessKeyId,
        name ?? "–",
        account,
        state,
        output.time(created),
        expires === undefined ? "never" : output.time(expires),
        lastUsed === undefined ? "never" : output.time(lastUsed),
        formatGrants(grants),
      ]),
    );
  },
};

const deleteCommand: Command = {
  name: "delete",
  summary: "Delete an access key",
  usage: ["<access-key-id>"],
  options: {},
  examples: ["store key delete STOREABCDEFGHIJKLMNO"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [accessKeyId = ""] = parameters;
    const isDeleted = await withKeys(invocation, "refuse", (keys) => keys.change(accessKeyId, "delete"));
    if (!isDeleted) throw noSuchKey(accessKeyId);
    if (output.isJson) await output.json({ accessKeyId, deleted: true });
    else await output.line(`Deleted access key ${output.name(accessKeyId)}.`);
  },
};

export const keyCommands: CommandGroup = {
  name: "key",
  summary: "Create, list, change and delete access keys of the S3 API",
  commands: [
    ...[createCommand, importCommand, listCommand, tempCommand],
    ...[rotateCommand, disableCommand, enableCommand, deleteCommand],
  ],
};

function listedJson(key: ListedCredential) {
  const lastUsed = key.lastUsed === undefined ? null : new Date(key.lastUsed).toISOString();
  return { ...keyJson(key), lastUsed };
}
