// The port for master keys: the store's own keys, which seal the data keys of encrypted objects.

export interface MasterKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Returns without a promise what is already in memory, because every encrypted read asks. */
export interface MasterKeys {
  /** Returns the key that seals new data keys. Creates the first key of the store. */
  current(): MasterKey | Promise<MasterKey>;
  /** Returns undefined if the store has no key with this id. */
  find(id: string): MasterKey | Promise<MasterKey | undefined>;
}

/** Encryption with the store's keys, as an engine was opened with it. */
export interface EncryptionOptions {
  readonly masterKeys: MasterKeys;
  /** "always": every new object is encrypted, whatever its bucket's setting. */
  readonly encrypt?: "always" | undefined;
}
