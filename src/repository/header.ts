// The object that makes a prefix a repository of backups. It contains the repository's own key,
// sealed with the user's key or passphrase, so that a wrong key is found before anything else.
import { randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { openKey, sealKey } from "../engine/encryption/key-sealing.ts";
import { BackupError } from "../model/backup.ts";
import { isFields } from "../model/shape.ts";
import { type Codec, createPlainCodec, createSealingCodec } from "./codec.ts";
import type { ObjectStore } from "./object-store.ts";

export const headerName = "store-backup.json";

/** The user's key. A passphrase is requested only when it is needed. */
export type BackupKey =
  | { readonly kind: "key"; readonly bytes: Uint8Array }
  | { readonly kind: "passphrase"; readonly read: ReadPassphrase };

export type ReadPassphrase = (use: "create" | "open") => Promise<string>;

export interface KeyOptions {
  /** Undefined: new repositories are not encrypted. */
  readonly key?: BackupKey | undefined;
  /** Called if no key was given and the backups are encrypted with a passphrase. */
  readonly askPassphrase?: ReadPassphrase | undefined;
}

interface ScryptSettings {
  readonly salt: string;
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

interface Encryption {
  /** How the user's key becomes the key that seals: undefined for 32 bytes of a key file. */
  readonly scrypt?: ScryptSettings;
  readonly sealedKey: string;
}

interface Header {
  readonly format: 1;
  readonly id: string;
  readonly encryption?: Encryption;
}

const maxHeaderBytes = 64 * 1024;
const keyBytes = 32;

/** Returns undefined if the prefix has no repository. Throws if the key does not fit. */
export async function openHeader(
  objects: ObjectStore,
  { key: given, askPassphrase }: KeyOptions,
): Promise<Codec | undefined> {
  const found = await objects.get(headerName, maxHeaderBytes);
  if (found === undefined) return undefined;
  const { encryption, id } = parseHeader(found.bytes, objects.where);
  if (encryption === undefined) {
    if (given === undefined) return createPlainCodec();
    throw new BackupError(`The backups at ${objects.where} are not encrypted, but a key was given.`, [
      "Leave out the key, or specify another prefix for encrypted backups.",
    ]);
  }
  const canAsk = askPassphrase !== undefined && encryption.scrypt !== undefined;
  const key = given ?? (canAsk ? ({ kind: "passphrase", read: askPassphrase } as const) : undefined);
  if (key === undefined) {
    throw new BackupError(`The backups at ${objects.where} are encrypted.`, [
      encryption.scrypt === undefined
        ? "Add --key-file FILE with the key that they were made with."
        : "Set STORE_BACKUP_PASSPHRASE to the passphrase that they were made with.",
    ]);
  }
  return createSealingCodec(await unsealKey(encryption, { id, key, where: objects.where }));
}

/** Creates the repository, unless another process has created it in the meantime. */
export async function createHeader(objects: ObjectStore, { key }: KeyOptions): Promise<Codec> {
  const id = randomBytes(16).toString("hex");
  const repositoryKey = randomBytes(keyBytes);
  const encryption = key === undefined ? {} : { encryption: await sealNewKey(id, repositoryKey, key) };
  const header: Header = { format: 1, id, ...encryption };
  const bytes = Buffer.from(`${JSON.stringify(header, undefined, 1)}\n`);
  await objects.create(headerName, bytes);
  // Services without conditional writes accept two headers, so use the one that was stored.
  const stored = await objects.get(headerName, maxHeaderBytes);
  if (stored?.bytes.equals(bytes))
    return key === undefined ? createPlainCodec() : createSealingCodec(repositoryKey);
  const codec = await openHeader(objects, { key });
  if (codec !== undefined) return codec;
  throw new BackupError(`The S3 service of ${objects.where} does not return what was written.`, [
    "Specify a service with strong consistency.",
  ]);
}

async function sealNewKey(id: string, repositoryKey: Uint8Array, key: BackupKey): Promise<Encryption> {
  const salt = randomBytes(16).toString("hex");
  const settings: ScryptSettings = { salt, cost: 2 ** 17, blockSize: 8, parallelization: 1 };
  const bytes =
    key.kind === "key" ? key.bytes : await stretch(passphraseBytes(await key.read("create")), settings);
  const sealedKey = sealKey({ randomBytes }, { id: "", bytes }, repositoryKey, purpose(id)).toString(
    "base64",
  );
  return key.kind === "key" ? { sealedKey } : { scrypt: settings, sealedKey };
}

interface Unsealing {
  readonly id: string;
  readonly key: BackupKey;
  readonly where: string;
}

async function unsealKey({ scrypt: settings, sealedKey }: Encryption, { id, key, where }: Unsealing) {
  if ((settings === undefined) !== (key.kind === "key")) {
    throw new BackupError(
      `The backups at ${where} were made with a ${settings === undefined ? "key file" : "passphrase"}.`,
      [settings === undefined ? "Add --key-file FILE." : "Leave out --key-file, and enter the passphrase."],
    );
  }
  const bytes =
    key.kind === "key" ? key.bytes : await stretch(passphraseBytes(await key.read("open")), settings!);
  try {
    return openKey({ id: "", bytes }, Buffer.from(sealedKey, "base64"), purpose(id));
  } catch (cause) {
    const what = key.kind === "key" ? "key" : "passphrase";
    throw new BackupError(
      `The ${what} does not open the backups at ${where}: it is wrong.`,
      [`Use the ${what} that the first backup there was made with. Nothing was changed.`],
      cause,
    );
  }
}

function purpose(id: string): string {
  return `store backup ${id}`;
}

/** The same passphrase can be typed as different sequences of characters. */
function passphraseBytes(text: string): Buffer {
  return Buffer.from(text.normalize("NFC"));
}

const scryptAsync = promisify<Uint8Array, Uint8Array, number, object, Buffer>(scrypt);

function stretch(passphrase: Uint8Array, { salt, ...settings }: ScryptSettings): Promise<Buffer> {
  const maxmem = 2 * 128 * settings.cost * settings.blockSize;
  return scryptAsync(passphrase, Buffer.from(salt, "hex"), keyBytes, { ...settings, maxmem });
}

function parseHeader(bytes: Buffer, where: string): Header {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    // Reported below: the value is not a header.
  }
  if (isFields(value) && value.format !== 1 && typeof value.format === "number") {
    throw new BackupError(
      `The backups at ${where} have format ${value.format}, which this Store does not know.`,
      ["Use the Store that made them, or a newer one."],
    );
  }
  if (isHeader(value)) return value;
  throw new BackupError(
    `The backups at ${where} cannot be read: "${headerName}" is not what Store writes there.`,
    ["Restore the object, for example from an earlier version of it. Nothing was changed."],
  );
}

function isHeader(value: unknown): value is Header {
  if (!isFields(value) || value.format !== 1) return false;
  const { id, encryption } = value;
  return (
    typeof id === "string" &&
    /^[0-9a-f]{32}$/.test(id) &&
    (encryption === undefined || isEncryption(encryption))
  );
}

function isEncryption(value: unknown): value is Encryption {
  if (!isFields(value)) return false;
  const { sealedKey, scrypt: settings } = value;
  const isSealed = typeof sealedKey === "string" && /^[A-Za-z0-9+/]{80}$/.test(sealedKey);
  return isSealed && (settings === undefined || isScrypt(settings));
}

/** Limits the work that a changed header can cause: at most 1 GiB of memory. */
function isScrypt(value: unknown): value is ScryptSettings {
  if (!isFields(value)) return false;
  const { salt, cost, blockSize, parallelization } = value;
  return (
    typeof salt === "string" &&
    /^[0-9a-f]{32}$/.test(salt) &&
    [2 ** 14, 2 ** 15, 2 ** 16, 2 ** 17, 2 ** 18, 2 ** 19, 2 ** 20].includes(cost as number) &&
    blockSize === 8 &&
    parallelization === 1
  );
}
