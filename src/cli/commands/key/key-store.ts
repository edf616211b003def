// The access keys that `store key` works on: those in the files of a store, or those of a running
// server by the console's API.
import type { Grant } from "../../../access/grants.ts";
import {
  type Credential,
  type CredentialInfo,
  createCredentials,
  type ListedCredential,
} from "../../../access/keys/credentials.ts";
import { isCount, isFields, isList, isText } from "../../../model/shape.ts";
import type { Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { type Data, withData } from "../../store/open-store.ts";
import { type ConsoleClient, ConsoleRefusal, withConsole } from "../../store/remote/console.ts";
import { chosenService } from "../../store/remote/service.ts";
import { parseKeySettings, throwUsageError } from "./settings.ts";

export type NewKey = CredentialInfo & Pick<Credential, "secretAccessKey">;
export type RotatedKey = Pick<Credential, "secretAccessKey" | "previousUntil">;
export type KeyChange = "delete" | "disable" | "enable";

export interface KeyStore {
  list(): Promise<readonly ListedCredential[]>;
  /** Creates a key with the settings of the command line. */
  create(): Promise<NewKey>;
  /** False if the key does not exist. */
  change(accessKeyId: string, change: KeyChange): Promise<boolean>;
  /** Undefined if the key does not exist. */
  rotate(
    accessKeyId: string,
    keep: { text: string | undefined; milliseconds: number },
  ): Promise<RotatedKey | undefined>;
}

export async function withKeys<T>(
  invocation: Invocation,
  absent: "create" | "refuse",
  work: (keys: KeyStore) => Promise<T>,
): Promise<T> {
  const readSettings = invocation.command === "key create" ? parseKeySettings(invocation) : undefined;
  const service = await chosenService(invocation);
  if (service !== undefined) {
    return withConsole(invocation, service, (client) => work(consoleKeys(invocation, client)));
  }
  return withData(invocation, { absent }, (data) =>
    work(localKeys(data, async () => (await readSettings?.(data)) ?? {})),
  );
}

export function openCredentials({ documents, secretKey }: Data) {
  return createCredentials(documents, secretKey(), Date.now);
}

function localKeys(
  data: Data,
  readSettings: () => Promise<Parameters<ReturnType<typeof createCredentials>["create"]>[0]>,
): KeyStore {
  const credentials = () => openCredentials(data);
  return {
    list: () => credentials().list(),
    async create() {
      const made = await credentials()
        .create(await readSettings())
        .catch(throwUsageError);
      await data.recordAudit("create key", made.accessKeyId);
      return made;
    },
    async change(accessKeyId, change) {
      const isDone = await credentials()[change](accessKeyId);
      if (isDone) await data.recordAudit(`${change} key`, accessKeyId);
      return isDone;
    },
    async rotate(accessKeyId, { milliseconds }) {
      const key = await credentials().rotate(accessKeyId, milliseconds);
      if (key !== undefined) await data.recordAudit("rotate key", accessKeyId);
      return key;
    },
  };
}

const path = "/api/keys";

function consoleKeys({ options }: Invocation, client: ConsoleClient): KeyStore {
  async function list(): Promise<ListedCredential[]> {
    const { keys } = await client.request({ method: "GET", path });
    if (!isList(keys, 1_000_000, isKey)) throw invalidAnswer();
    return keys.map(toListed);
  }

  async function create(): Promise<NewKey> {
    const limit = ["requests-per-second", "bytes-per-second"].find(
      (name) => options.text(name) !== undefined,
    );
    if (limit !== undefined) {
      throw usageError(`--${limit} cannot be set through the console's API.`, [
        "Create the key on the server's machine, with --data DIR.",
      ]);
    }
    const grants = options.texts("grant");
    const body = {
      ...{ name: options.text("name"), account: options.text("account"), expires: options.text("expires") },
      ...(grants.length === 0 ? {} : { grants }),
    };
    const { accessKeyId, secretAccessKey } = await client.request({ method: "POST", path, body });
    if (!isText(accessKeyId, 256) || !isText(secretAccessKey, 256)) throw invalidAnswer();
    const found = (await list()).find((key) => key.accessKeyId === accessKeyId);
    if (found === undefined) throw invalidAnswer();
    return { ...found, secretAccessKey };
  }

  return {
    list,
    create,
    change: (accessKeyId, change) =>
      foundOr(false, async () => {
        const query = { key: accessKeyId };
        if (change === "delete") await client.request({ method: "DELETE", path, query });
        else await client.request({ method: "POST", path: `${path}/${change}`, query, body: {} });
        return true;
      }),
    rotate: (accessKeyId, { text: keep }) =>
      foundOr(undefined, async () => {
        const query = { key: accessKeyId };
        const rotated = await client.request({
          method: "POST",
          path: `${path}/rotate`,
          query,
          body: { keep },
        });
        const { secretAccessKey, previousUntil } = rotated;
        if (!isText(secretAccessKey, 256)) throw invalidAnswer();
        return { secretAccessKey, previousUntil: isCount(previousUntil) ? previousUntil : undefined };
      }),
  };
}

async function foundOr<T, Missing>(missing: Missing, work: () => Promise<T>): Promise<T | Missing> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConsoleRefusal && error.status === 404) return missing;
    throw error;
  }
}

interface Key {
  readonly accessKeyId: string;
  readonly name: string | null;
  readonly account: string;
  readonly grants: readonly Grant[] | null;
  readonly created: number;
  readonly expires: number | null;
  readonly lastUsed: number | null;
  readonly state: ListedCredential["state"];
  readonly previousUntil: number | null;
}

function isKey(value: unknown): value is Key {
  if (!isFields(value)) return false;
  const { accessKeyId, name, account, grants, created, expires, lastUsed, state, previousUntil } = value;
  return (
    isText(accessKeyId, 256) &&
    (name === null || isText(name, 4096)) &&
    isText(account, 256) &&
    (grants === null || isList(grants, 10_000, isGrant)) &&
    isCount(created) &&
    [expires, lastUsed, previousUntil].every((time) => time === null || isCount(time)) &&
    ["active", "disabled", "expired"].includes(String(state))
  );
}

function isGrant(value: unknown): value is Grant {
  if (!isFields(value)) return false;
  const { bucket, rights, prefix, object } = value;
  const isWord = (word: unknown): word is string => isText(word, 64);
  return (
    isText(bucket, 64) &&
    isList(rights, 100, isWord) &&
    [prefix, object].every((text) => text === undefined || isText(text, 1024))
  );
}

function toListed({ name, grants, expires, lastUsed, previousUntil, ...key }: Key): ListedCredential {
  return {
    ...key,
    name: name ?? undefined,
    grants: grants ?? undefined,
    expires: expires ?? undefined,
    lastUsed: lastUsed ?? undefined,
    previousUntil: previousUntil ?? undefined,
  };
}

function invalidAnswer(): CommandError {
  return new CommandError("The console answered in a form that this version does not know.", {
    hint: "Use the version of the server: store --version",
  });
}
