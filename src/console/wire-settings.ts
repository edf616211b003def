// Types of the JSON about the settings and rules of a bucket that the console's server and page
// exchange.
import type { PublicAccessBlockDocument, PublicationDocument } from "./wire-bucket.ts";
import type { VersioningState } from "./wire-types.ts";

/** The rules as the model stores them. The page reads their fields by name. */
export interface RulesDocument {
  readonly lifecycle: readonly object[];
  /** Whether no lifecycle rules were set: `lifecycle` is then the default rule. */
  readonly isDefaultLifecycle: boolean;
  readonly cors: readonly object[];
  readonly locks: readonly object[];
  /** A mark of the rules of each kind. A change sends it back, to detect other changes. */
  readonly seen: { readonly lifecycle: string; readonly cors: string; readonly locks: string };
}

export interface RetentionDocument {
  readonly mode: "governance" | "compliance";
  readonly days: number;
}

export type SettingKind =
  | ("versioning" | "objectLock" | "tags" | "quota")
  | ("policy" | "publication" | "publicAccessBlock" | "encryption");

export interface SettingsDocument {
  readonly versioning: VersioningState;
  readonly objectLock: { readonly isEnabled: boolean; readonly defaultRetention: RetentionDocument | null };
  readonly tags: readonly (readonly [string, string])[];
  readonly quota: { readonly bytes?: number | undefined; readonly objects?: number | undefined } | null;
  /** What counts for the quota: all versions. Null without a quota. */
  readonly usage: { readonly bytes: number; readonly objects: number } | null;
  /** The JSON text as it was put. */
  readonly policy: string | null;
  readonly publication: PublicationDocument | null;
  readonly publicAccessBlock: PublicAccessBlockDocument | null;
  readonly isEncrypted: boolean;
  /** Like `seen` of the rules. */
  readonly seen: Readonly<Record<SettingKind, string>>;
}

/** The mark of a setting after a change. */
export interface ChangedDocument {
  readonly seen: string;
}

export interface FlawsDocument {
  readonly flaws: readonly {
    /** Index of the rule, from 0; missing if the message is about all rules. */
    readonly rule?: number | undefined;
    readonly field?: string | undefined;
    readonly message: string;
  }[];
}
