// Settings of buckets that belong to other modules: publication, policies and notifications. The
// caller provides the implementation, with the same rules as the command line.
import type { Bucket } from "../../../model/bucket.ts";
import type { Publication } from "../../../model/settings/publication.ts";
import type { NewNotificationDocument, NotificationDocument, StatementDocument } from "../../wire-bucket.ts";

/** Methods throw ConsoleError for invalid input. */
export interface ConsoleBuckets {
  /** Names of the public buckets. */
  listPublic(): Promise<ReadonlySet<string>>;
  /** With undefined, makes the bucket private. Keeps a publication that was changed meanwhile. */
  publish(bucket: Bucket, publication: Publication | undefined): Promise<"committed" | "conflict">;
  /** Port of public buckets; undefined while it is closed. */
  publicPort(): number | undefined;
  parsePolicy(text: string, bucket: string): ParsedPolicy;
  /** Throws if the store has no key to encrypt with. */
  requireEncryptionKey(): void;
  /** Event names that a notification rule can have. */
  readonly events: readonly string[];
  listNotifications(bucket: string): Promise<readonly NotificationDocument[]>;
  addNotification(bucket: string, rule: NewNotification): Promise<NewNotificationDocument>;
  /** False if the rule does not exist. */
  removeNotification(bucket: string, id: string): Promise<boolean>;
  /** Returns why the webhook did not accept a test message; undefined if it did. */
  testNotification(bucket: string, id: string): Promise<string | undefined>;
}

export interface ParsedPolicy {
  readonly isPublic: boolean;
  readonly statements: readonly StatementDocument[];
}

export interface NewNotification {
  readonly id: string | undefined;
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
  readonly target: { readonly kind: "webhook" | "script"; readonly name: string };
}
