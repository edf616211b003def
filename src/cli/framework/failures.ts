// Maps errors to messages, hints and exit codes. The table covers every reason of `StoreError`: a
// new reason does not compile until it has an entry.

import { CredentialError } from "../../access/keys/new-credential.ts";
import { BackupError } from "../../model/backup.ts";
import { CopyError } from "../../model/copy.ts";
import { errorMessage, type Reason, StoreError } from "../../model/errors.ts";
import { KeyValueError, namespaceNameRule } from "../../model/key-value.ts";
import { ConfigError } from "../../script/config/syntax/error.ts";
import { SecretKeyError } from "../../secrets/master-key.ts";
import { SecretError } from "../../secrets/secrets.ts";
import { CommandError } from "./command-error.ts";
import { escapeControls, type Style } from "./output.ts";
import { shellWord } from "./shell-quote.ts";

/** The names that an error message mentions. */
export interface Subject {
  readonly bucket?: string | undefined;
  /** The key-value namespace, for commands that work on a namespace instead of a bucket. */
  readonly namespace?: string | undefined;
  readonly key?: string | undefined;
  /** Id of the version of the object. */
  readonly version?: string | undefined;
  /** Undefined for a data directory. */
  readonly storeKind?: "cluster" | undefined;
}

interface MessageTemplate {
  readonly exitCode?: 2;
  readonly message?: (subject: Subject) => string;
  readonly hint?: string | ((subject: Subject) => string | readonly string[]);
}

/** The words for the bucket or the namespace of a command. */
interface Container {
  readonly kind: "bucket" | "namespace";
  readonly command: string;
  readonly nameRule: string;
  readonly item: "object" | "key";
  readonly listItems: string;
  readonly show: string;
}

/** Entries whose message names the bucket or the namespace. */
function containerTemplates({ kind, command, nameRule, item, listItems, show }: Container) {
  const quoted = (subject: Subject) => `"${escapeControls(subject[kind] ?? "")}"`;
  const name = (subject: Subject) => subject[kind] ?? "<name>";
  return {
    InvalidBucketName: {
      exitCode: 2,
      message: (subject) => `${quoted(subject)} is not a valid ${kind} name.`,
      hint: `Use ${nameRule}.`,
    },
    NoSuchBucket: {
      message: (subject) => `There is no ${kind} ${quoted(subject)}.`,
      hint: (subject) => [`Create it: ${command} create ${name(subject)}`, `List ${kind}s: ${command} list`],
    },
    NoSuchKey: {
      message: (subject) =>
        `There is no ${item} "${escapeControls(subject.key ?? "")}" in ${kind} ${quoted(subject)}.`,
      hint: (subject) => `List ${item}s: ${listItems} ${subject[kind] ?? `<${kind}>`}`,
    },
    BucketNotEmpty: {
      message: (subject) => `The ${kind} ${quoted(subject)} is not empty.`,
      hint: (subject) => `Delete it with all its contents: ${command} delete ${name(subject)} --force`,
    },
    BucketConflict: {
      message: (subject) => `The ${kind} ${quoted(subject)} already exists; nothing was changed.`,
      hint: (subject) => `${show} ${name(subject)}`,
    },
  } satisfies Partial<Record<Reason, MessageTemplate>>;
}

const bucketTemplates = containerTemplates({
  kind: "bucket",
  command: "store bucket",
  nameRule:
    "3 to 63 lowercase letters, digits, dots and dashes, a letter or digit at both ends, no dot beside a dot or a dash",
  item: "object",
  listItems: "store object list",
  show: "Show it: store bucket info",
});

const namespaceTemplates: Partial<Record<Reason, MessageTemplate>> = containerTemplates({
  kind: "namespace",
  command: "store kv namespace",
  nameRule: namespaceNameRule,
  item: "key",
  listItems: "store kv list",
  show: "List its keys: store kv list",
});

const messageTemplates: Readonly<Record<Reason, MessageTemplate>> = {
  ...bucketTemplates,
  InternalError: { hint: "Check for damage: store verify" },
  Damaged: { hint: "Find out what is damaged: store verify" },
  AccessDenied: {},
  InvalidPartNumber: {},
  EntityTooSmall: {},
  MetadataTooLarge: {
    exitCode: 2,
    message: () => "The metadata is too large: names and values may have 8,192 bytes in total.",
  },
  IncompleteBody: {
    message: () => "The file changed while it was being read; nothing was stored.",
    hint: "Try again when nothing else writes to it.",
  },
  InvalidDigest: {},
  InvalidObjectName: { exitCode: 2, message: () => "The key is too long: the maximum is 1,024 bytes." },
  InvalidMaxKeys: { exitCode: 2 },
  NoSuchUpload: {
    message: () => "The upload was aborted or completed by another process; nothing was stored.",
    hint: "Try again.",
  },
  InvalidPart: {},
  TooManyKeys: { exitCode: 2 },
  InvalidArgument: {},
  PreconditionFailed: {},
  BadDigest: {},
  InvalidRange: {},
  ServiceUnavailable: {
    hint: ({ storeKind }) =>
      storeKind === "cluster"
        ? "Check that PostgreSQL and the blob storage can be reached, then try again."
        : "Check the disk and the system log, then try again.",
  },
  InsufficientStorage: {},
  UnevenParts: {},
  TooManyUploads: {},
  QuotaExceeded: {
    hint: ({ bucket }) =>
      bucket === undefined
        ? "Show the quotas: store quota list"
        : `Show its quota: store quota show ${bucket}`,
  },
  MethodNotAllowed: {},
  InvalidTag: { exitCode: 2 },
  NoSuchVersion: {
    message: ({ bucket, key, version }) =>
      `There is no version "${escapeControls(version ?? "")}" of "${escapeControls(key ?? "")}" in bucket "${bucket}".`,
    hint: ({ bucket, key }) =>
      `List its versions: store object versions ${shellWord(escapeControls(`${bucket}/${key}`))}`,
  },
  InvalidBucketState: {
    hint: ({ bucket }) => (bucket === undefined ? [] : `Show its settings: store bucket info ${bucket}`),
  },
  InvalidStorageClass: {
    exitCode: 2,
    message: () => "There is no such storage class.",
    hint: "Use Standard or InfrequentAccess.",
  },
  EntityTooLarge: {
    message: () => "The object is too large: the maximum is 5,492,189,429,760 bytes (4.995 TiB).",
  },
};

/** Converts a `StoreError` to a `CommandError`; returns other errors unchanged. */
export function toCommandError(error: unknown, subject: Subject): unknown {
  if (error instanceof KeyValueError) return new CommandError(error.message, { exitCode: 2, cause: error });
  if (!(error instanceof StoreError)) return error;
  const namespaceTemplate = subject.namespace === undefined ? undefined : namespaceTemplates[error.reason];
  const { message, hint, exitCode = 1 } = namespaceTemplate ?? messageTemplates[error.reason];
  return new CommandError(message?.(subject) ?? error.detail, {
    hint: typeof hint === "function" ? hint(subject) : hint,
    exitCode,
    cause: error,
  });
}

/** Runs `check` and converts its errors with `toCommandError`. */
export function withCommandErrors<T>(subject: Subject, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw toCommandError(error, subject);
  }
}

export interface Failure {
  readonly text: string;
  readonly exitCode: 1 | 2;
}

export function describeFailure(error: unknown, style: Style): Failure {
  const mapped = error instanceof StoreError ? toCommandError(error, {}) : error;
  if (mapped instanceof ConfigError) return { text: mapped.message, exitCode: 1 };
  const label = style.red(style.bold("error:"));
  if (mapped instanceof CommandError || mapped instanceof BackupError || mapped instanceof CopyError) {
    // Messages of a backup or copy contain paths and keys from the data: escape control characters.
    const format = mapped instanceof CommandError ? (text: string) => text : escapeControls;
    const lines = [`${label} ${format(mapped.message)}`, ...mapped.hints.map((hint) => `  ${format(hint)}`)];
    return { text: lines.join("\n"), exitCode: mapped instanceof CommandError ? mapped.exitCode : 1 };
  }
  const isExpected =
    mapped instanceof SecretError || mapped instanceof SecretKeyError || mapped instanceof CredentialError;
  if (isExpected) return { text: `${label} ${mapped.message}`, exitCode: 1 };
  const code = systemCode(mapped);
  if (mapped instanceof Error && code !== undefined && fileReasons[code] !== undefined) {
    const { syscall = "continue", path } = mapped as NodeJS.ErrnoException;
    const what = path === undefined ? syscall : `${syscall} "${escapeControls(path)}"`;
    return { text: `${label} Cannot ${what}: ${fileReasons[code]}.`, exitCode: 1 };
  }
  const message = errorMessage(mapped);
  return { text: `${label} ${message}\n  For details set STORE_DEBUG=1`, exitCode: 1 };
}

/** Converts a system error to a message that explains why a file could not be used. */
export function fileError(error: unknown, action: string, path: string): unknown {
  const code = systemCode(error);
  // EPIPE means that the reader closed its end of the pipe, not that a file failed.
  if (!(error instanceof Error) || code === undefined || code === "EPIPE" || !("syscall" in error))
    return error;
  const reason = fileReasons[code] ?? `the system reports ${code}`;
  return new CommandError(`Cannot ${action} "${escapeControls(path)}": ${reason}.`, { cause: error });
}

export function systemCode(error: unknown): string | undefined {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return typeof code === "string" ? code : undefined;
}

const fileReasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "permission is denied",
  EPERM: "it is not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "its symbolic links form a loop",
  ENXIO: "no process reads from it",
  EIO: "the disk reports an error",
};
