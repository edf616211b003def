// `store key …`: manages access keys of the S3 API. A secret is shown only when its key is created.

import { formatGrant, type Grant, parseDuration, parseGrant } from "../../access/grants.ts";
import { bindGrants } from "../../access/keys/credential-grants.ts";
import type { CredentialInfo, ListedCredential } from "../../access/keys/credentials.ts";
import { CredentialError } from "../../access/keys/new-credential.ts";
import { StoreError } from "../../model/errors.ts";
import type { Command, CommandGroup } from "../framework/command.ts";
import { parseOrUsageError, usageError } from "../framework/command-error.ts";
import { toCommandError } from "../framework/failures.ts";
import { type Data, withData } from "../store/open-store.ts";
import { disableCommand, enableCommand, noSuchKey, openCredentials, rotateCommand } from "./key-state.ts";

const createCommand: Command = {
  name: "create",
  summary: "Create an access key for the S3 API",
  details: "Without --grant the key has full access to its account. The secret is shown only once.",
  usage: ["[--account NAME] [--grant BUCKET:RIGHTS]... [--expires TIME]"],
  options: {
    account: { value: "NAME", summary: 'account that owns the key and its buckets; default: "default"' },
    grant: {
      value: "BUCKET:RIGHTS",
      summary:
        "permissions on a bucket or a part of it: read, write, append, list, delete, admin; * is every bucket",
      repeatable: true,
    },
    expires: { value: "TIME", summary: "lifetime, such as 12h or 30d; default: no expiry" },
  },
  examples: [
    "store key create",
    "store key create --grant photos:read,list --expires 30d",
    "store key create --grant photos/2026/*:read,append",
    "store key create --account backup --grant backups:read,write,list,delete --json",
  ],
  async run(invocation) {
    const { options, output } = invocation;
    const given = options.texts("grant").map((text) => parseOrUsageError(() => parseGrant(text)));
    const expires = options.text("expires");
    const lifetime = expires === undefined ? undefined : parseOrUsageError(() => parseDuration(expires));
    const account = options.text("account");
    const credential = await withData(invocation, { absent: "create" }, async (data) => {
      for (const { bucket } of given) await checkBucket(data, bucket);
      const find = (bucket: string) => data.engine.bucket(bucket);
      const grants = given.length === 0 ? undefined : await bindGrants(given, find);
      const end = lifetime === undefined ? undefined : Date.now() + lifetime;
      const made = await openCredentials(data)
        .create({ account, grants, expires: end })
        .catch(throwUsageError);
      await data.recordAudit("create key", made.accessKeyId);
      return made;
    });
    const { accessKeyId, secretAccessKey } = credential;
    if (output.isJson) return output.json({ ...keyJson(credential), secretAccessKey });
    await output.fields([
      ["access key id", accessKeyId],
      ["secret access key", secretAccessKey],
      ["account", credential.account],
      ["grants", formatGrants(credential.grants)],
      ["expires", credential.expires === undefined ? "never" : output.time(credential.expires)],
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
    const keys = await withData(invocation, { absent: "refuse" }, (data) => openCredentials(data).list());
    if (output.isJson) return output.json(keys.map(listedJson));
    if (keys.length === 0) output.note("There are no access keys yet. Create one: store key create");
    const names = ["ACCESS KEY ID", "ACCOUNT", "STATE", "CREATED", "EXPIRES", "LAST USED", "GRANTS"];
    await output.table(
      names.map((name) => ({ name })),
      keys.map(({ accessKeyId, account, state, created, expires, lastUsed, grants }) => [
        accessKeyId,
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
    const isDeleted = await withData(invocation, { absent: "refuse" }, async (data) => {
      const isDone = await openCredentials(data).delete(accessKeyId);
      if (isDone) await data.recordAudit("delete key", accessKeyId);
      return isDone;
    });
    if (!isDeleted) throw noSuchKey(accessKeyId);
    if (output.isJson) await output.json({ accessKeyId, deleted: true });
    else await output.line(`Deleted access key ${output.name(accessKeyId)}.`);
  },
};

export const keyCommands: CommandGroup = {
  name: "key",
  summary: "Create, list, change and delete access keys of the S3 API",
  commands: [createCommand, listCommand, rotateCommand, disableCommand, enableCommand, deleteCommand],
};

/** Converts an error about the settings of a key to a usage error. */
function throwUsageError(error: unknown): never {
  throw error instanceof CredentialError ? usageError(error.message) : error;
}

/** Refuses a missing bucket: otherwise a typo is only noticed when a client gets AccessDenied. */
async function checkBucket({ engine }: Data, bucket: string): Promise<void> {
  if (bucket === "*" || (await engine.bucket(bucket)) !== undefined) return;
  throw toCommandError(new StoreError("NoSuchBucket"), { bucket });
}

function formatGrants(grants: readonly Grant[] | undefined): string {
  if (grants === undefined) return "full access";
  if (grants.length === 0) return "none";
  return grants.map(formatGrant).join(" ");
}

function listedJson(key: ListedCredential) {
  const lastUsed = key.lastUsed === undefined ? null : new Date(key.lastUsed).toISOString();
  return { ...keyJson(key), lastUsed };
}

function keyJson({ accessKeyId, account, grants, created, expires, state }: CredentialInfo) {
  return {
    accessKeyId,
    account,
    grants: grants?.map(({ identity: _, ...grant }) => grant) ?? null,
    created: new Date(created).toISOString(),
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    state,
  };
}
