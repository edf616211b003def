// The port for master keys: the store's own keys, which seal the data keys of encrypted objects.

export interface MasterKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** A master key as it is listed, without its bytes. Times are in milliseconds since the epoch. */
export interface MasterKeyInfo {
  readonly id: string;
  readonly created: number;
  /** Since when new objects are sealed with another key, and all earlier ones too. */
  readonly retired?: number | undefined;
}

/** Returns without a promise what is already in memory, because every encrypted read asks. */
export interface MasterKeys {
  /** Returns the key that seals new data keys. Creates the first key of the store. */
  current(): MasterKey | Promise<MasterKey>;
  /** Returns undefined if the store has no key with this id. */
  find(id: string): MasterKey | Promise<MasterKey | undefined>;
  /** Returns all keys, oldest first. The newest is current. Needs no secret key. */
  list(): Promise<readonly MasterKeyInfo[]>;
  /** Adds a key and makes it current. Returns its id. Other processes use it within seconds. */
  add(): Promise<string>;
  /** Marks all keys but the current one as retired, and removes those retired before the time. */
  retireOthers(removeBefore: number): Promise<void>;
}

/** Encryption with the store's keys, as an engine was opened with it. */
export interface EncryptionOptions {
  readonly masterKeys: MasterKeys;
  /** "always": every new object is encrypted, whatever its bucket's setting. */
  readonly encrypt?: "always" | undefined;
}
