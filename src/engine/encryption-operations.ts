// Operations on the encryption of a whole store, and what they report.
import type { MasterKeyInfo } from "./master-keys.ts";

export interface EncryptionOperations {
  /** "always": every new object is encrypted with the store's key. */
  readonly mode: "always" | undefined;
  /** Counts objects, versions and uploads by their encryption. Reads every record. */
  status(): Promise<EncryptionStatus>;
  /**
   * Creates a master key, seals all data keys with it, and retires the earlier keys. Continues a
   * rotation that was interrupted. Writes and reads continue meanwhile.
   */
  rotate(options?: WalkOptions): Promise<RotationReport>;
  /**
   * Encrypts objects and versions that are not encrypted, in one bucket or in all. Versions keep
   * their ids, etags and times.
   */
  apply(options?: ApplyOptions): Promise<ApplyReport>;
}

export interface EncryptionCounts {
  /** Versions of objects, current or not, and active uploads. */
  readonly unencrypted: number;
  readonly withStoreKey: number;
  readonly withCustomerKey: number;
}

export interface EncryptionStatus extends EncryptionCounts {
  /** The newest is current. */
  readonly masterKeys: readonly MasterKeyInfo[];
  /** Number of versions and uploads by the id of the master key that seals their data key. */
  readonly byMasterKey: ReadonlyMap<string, number>;
  /** The rotation that was interrupted or is running, if any. */
  readonly rotation: RotationProgress | undefined;
}

export interface RotationProgress {
  /** Id of the new master key. */
  readonly to: string;
  readonly started: number;
  readonly rewrapped: number;
}

export interface WalkOptions {
  /** Called after each page. */
  readonly onProgress?: ((progress: WalkProgress) => void) | undefined;
  /** Stops after the current page. What is done stays done. */
  readonly signal?: AbortSignal | undefined;
}

export interface WalkProgress {
  readonly bucket: string;
  /** Number of versions and uploads read so far. */
  readonly examined: number;
  readonly changed: number;
}

export interface ApplyOptions extends WalkOptions {
  /** Default: all buckets and namespaces. */
  readonly bucket?: string | undefined;
}

export interface RotationReport {
  /** Id of the current master key. */
  readonly masterKey: string;
  readonly rewrapped: number;
  /** Whether an interrupted rotation was continued. */
  readonly isResumed: boolean;
}

export interface ApplyReport {
  readonly examined: number;
  readonly encrypted: number;
  /** Active uploads that were created without encryption; they are completed as they are. */
  readonly openUploads: number;
}
