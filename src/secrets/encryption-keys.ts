// The master keys of a store, which seal the data keys of encrypted objects. One document holds all
// of them, sealed with the store's secret key. Other processes see a new key within seconds.
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { MasterKey, MasterKeyInfo, MasterKeys } from "../engine/master-keys.ts";
import type { Document, Documents } from "../engine/records.ts";
import { StoreError } from "../model/errors.ts";
import { isFields, isList, isNumber, isOptional, isText } from "../model/shape.ts";
import { SecretKeyError, secretKeyFile } from "./master-key.ts";
import { seal, unseal } from "./seal.ts";

const kind = "encryption";
const name = "master keys";
const masterKeyBytes = 32;
/** Age at which the keys are read again in the background, and at which writes wait for it. */
const refreshMilliseconds = 2_000;
const staleMilliseconds = 10_000;

interface StoredMasterKey extends MasterKeyInfo {
  readonly sealed: string;
}

interface StoredKeys {
  /** Id of the key that seals new data keys. */
  readonly current: string;
  readonly keys: readonly StoredMasterKey[];
}

interface Loaded {
  /** Reads are numbered, so that a slow read does not replace a later one. */
  readonly number: number;
  readonly at: number;
  readonly current: MasterKey;
  readonly byId: ReadonlyMap<string, MasterKey>;
}

/** `secretKey` is called when the first object is encrypted or decrypted, not earlier. */
export function createEncryptionKeys(
  documents: Documents,
  secretKey: () => Uint8Array,
  now: () => number = Date.now,
): MasterKeys {
  let loaded: Loaded | undefined;
  let reads = 0;
  let loading: Promise<Loaded | undefined> | undefined;

  async function read(): Promise<Loaded | undefined> {
    const at = now();
    const number = ++reads;
    const document = await documents.get(kind, name);
    if (document === undefined) return undefined;
    const { current, keys } = parse(document);
    const byId = new Map(keys.map((key) => [key.id, open(requireSecretKey(secretKey), key)]));
    const found = { number, at, current: byId.get(current)!, byId };
    if (number > (loaded?.number ?? 0)) loaded = found;
    return found;
  }

  /** Concurrent callers share one read. */
  function load(): Promise<Loaded | undefined> {
    loading ??= read().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  /** Applies a change to the stored keys; repeats it if another process was faster. */
  async function change(toKeys: (keys: StoredKeys | undefined) => StoredKeys): Promise<StoredKeys> {
    for (;;) {
      const document = await documents.get(kind, name);
      const before = document === undefined ? undefined : parse(document);
      const after = toKeys(before);
      if (after === before) return after;
      if ((await documents.put(kind, name, JSON.stringify(after), document?.revision)) === "committed") {
        await read();
        return after;
      }
    }
  }

  async function loadOrCreate(): Promise<MasterKey> {
    const found = await load();
    if (found !== undefined) return found.current;
    await change((keys) => keys ?? withNewKey(undefined));
    return (await read())!.current;
  }

  function withNewKey(keys: StoredKeys | undefined): StoredKeys {
    const id = randomBytes(8).toString("hex");
    const text = randomBytes(masterKeyBytes).toString("base64");
    const sealed = seal(requireSecretKey(secretKey), [kind, id], text);
    return { current: id, keys: [...(keys?.keys ?? []), { id, created: now(), sealed }] };
  }

  async function loadMissing(id: string): Promise<MasterKey | undefined> {
    return (await load())?.byId.get(id);
  }

  return {
    current() {
      // A clock that was set back must not keep an old key current until the clock has caught up.
      const age = loaded === undefined ? Number.POSITIVE_INFINITY : Math.abs(now() - loaded.at);
      if (age < refreshMilliseconds) return loaded!.current;
      if (age >= staleMilliseconds) return loadOrCreate();
      // If the read fails, the next call after `staleMilliseconds` waits and reports it.
      load().catch(() => {});
      return loaded!.current;
    },
    find: (id) => loaded?.byId.get(id) ?? loadMissing(id),
    async list() {
      const document = await documents.get(kind, name);
      if (document === undefined) return [];
      return parse(document).keys.map(({ id, created, retired }) => ({ id, created, retired }));
    },
    async add() {
      return (await change(withNewKey)).current;
    },
    async retireOthers(removeBefore) {
      const time = now();
      await change((keys) => {
        if (keys === undefined) throw new StoreError("InternalError");
        const isKept = ({ retired }: StoredMasterKey) => retired === undefined || retired >= removeBefore;
        const kept = keys.keys.filter((key) => key.id === keys.current || isKept(key));
        const retire = (key: StoredMasterKey) =>
          key.id === keys.current || key.retired !== undefined ? key : { ...key, retired: time };
        return { current: keys.current, keys: kept.map(retire) };
      });
    },
  };
}

function parse({ text }: Document): StoredKeys {
  try {
    const value: unknown = JSON.parse(text);
    if (isStoredKeys(value) && value.keys.some(({ id }) => id === value.current)) return value;
  } catch {
    // Reported below.
  }
  throw new StoreError("Damaged", {
    detail: "The document with the store's master keys is damaged: restore it from a backup.",
  });
}

function isStoredKeys(value: unknown): value is StoredKeys {
  return isFields(value) && isText(value.current, maxText) && isList(value.keys, maxKeys, isStoredKey);
}

function isStoredKey(value: unknown): value is StoredMasterKey {
  if (!isFields(value)) return false;
  const { id, created, retired, sealed } = value;
  return isText(id, maxText) && isText(sealed, maxText) && isNumber(created) && isOptional(retired, isNumber);
}

const maxText = 1000;
const maxKeys = 100_000;

/** A missing or unreadable secret key is an operator's mistake, not a bug: the message says so. */
function requireSecretKey(secretKey: () => Uint8Array): Uint8Array {
  try {
    return secretKey();
  } catch (cause) {
    if (!(cause instanceof SecretKeyError)) throw cause;
    throw new StoreError("InvalidBucketState", {
      detail: `The store's encryption keys cannot be opened. ${cause.message}`,
      cause,
    });
  }
}

function open(secretKey: Uint8Array, { id, sealed }: StoredMasterKey): MasterKey {
  const text = unseal(secretKey, [kind, id], sealed);
  if (text !== undefined) return { id, bytes: Buffer.from(text, "base64") };
  throw new StoreError("InvalidBucketState", {
    detail:
      `The master key ${id} was sealed with another secret key than the current one: restore the ` +
      `${secretKeyFile} of the data directory, or the STORE_SECRET_KEY, with which it was created.`,
  });
}
