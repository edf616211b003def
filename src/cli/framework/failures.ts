// Maps errors to messages, hints and exit codes. The table covers every reason of `StoreError`: a
// new reason does not compile until it has an entry.
import { BackupError } from "../../model/backup.ts";
import { CopyError } from "../../model/copy.ts";
import { type Reason, StoreError } from "../../model/errors.ts";
import { KeyValueError, namespaceNameRule } from "../../model/key-value.ts";
import { CredentialError } from "../../s3/auth/new-credential.ts";
import { ConfigError } from "../../script/config/syntax/error.ts";
import { SecretKeyError } from "../../secrets/master-key.ts";
import { SecretError } from "../../secrets/secrets.ts";
import { CommandError } from "./command-error.ts";
import { escapeControls, type Style } from "./output.ts";

/** Names used in the message. */
export interface Subject {
  readonly bucket?: string | undefined;
  /** The key-value namespace, for commands that work on a namespace instead of a bucket. */
  readonly namespace?: string | undefined;
  readonly key?: string | undefined;
  /** Undefined for a data directory. */
  readonly storeKind?: "cluster" | undefined;
}

interface MessageTemplate {
  readonly exitCode?: 2;
  readonly message?: (subject: Subject) => string;
  readonly hint?: string | ((subject: Subject) => string | readonly string[]);
}

const messageTemplates: Readonly<Record<Reason, MessageTemplate>> = {
  InternalError: { hint: "Check for damage: store verify" },
  Damaged: { hint: "Find out what is damaged: store verify" },
  AccessDenied: {},
  InvalidPartNumber: {},
  InvalidBucketName: {
    exitCode: 2,
    message: ({ bucket = "" }) => `"${escapeControls(bucket)}" is not a valid bucket name.`,
    hint: "Use 3 to 63 lowercase letters, digits, dots and dashes, a letter or digit at both ends, no two dots in a row.",
  },
  NoSuchBucket: {
    message: ({ bucket = "" }) => `There is no bucket "${escapeControls(bucket)}".`,
    hint: ({ bucket = "<name>" }) => [
      `Create it: store bucket create ${bucket}`,
      "List buckets: store bucket list",
    ],
  },
  NoSuchKey: {
    message: ({ bucket = "", key = "" }) =>
      `There is no object "${escapeControls(key)}" in bucket "${escapeControls(bucket)}".`,
    hint: ({ bucket = "<bucket>" }) => `List objects: store object list ${bucket}`,
  },
  BucketNotEmpty: {
    message: ({ bucket = "" }) => `The bucket "${escapeControls(bucket)}" is not empty.`,
    hint: ({ bucket = "<name>" }) => `Delete it with all its contents: store bucket delete ${bucket} --force`,
  },
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
  InvalidObjectName: {
    exitCode: 2,
    message: () => "The key is too long: the maximum is 1,024 bytes.",
  },
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
  InvalidStorageClass: {
    exitCode: 2,
    message: () => "There is no such storage class.",
    hint: "Use Standard or InfrequentAccess.",
  },
  BucketConflict: {
    message: ({ bucket = "" }) =>
      `The bucket "${escapeControls(bucket)}" already exists; nothing was changed.`,
    hint: ({ bucket = "<name>" }) => `Show it: store bucket info ${bucket}`,
  },
  EntityTooLarge: {
    message: () => "The object is too large: the maximum is 5,492,189,429,760 bytes (4.995 TiB).",
  },
};

/** Messages that differ for commands on a namespace. */
const namespaceTemplates: Partial<Record<Reason, MessageTemplate>> = {
  InvalidBucketName: {
    exitCode: 2,
    message: ({ namespace = "" }) => `"${escapeControls(namespace)}" is not a valid namespace name.`,
    hint: `Use ${namespaceNameRule}.`,
  },
  NoSuchBucket: {
    message: ({ namespace = "" }) => `There is no namespace "${escapeControls(namespace)}".`,
    hint: ({ namespace = "<name>" }) => [
      `Create it: store kv namespace create ${namespace}`,
      "List namespaces: store kv namespace list",
    ],
  },
  NoSuchKey: {
    message: ({ namespace = "", key = "" }) =>
      `There is no key "${escapeControls(key)}" in namespace "${escapeControls(namespace)}".`,
    hint: ({ namespace = "<namespace>" }) => `List keys: store kv list ${namespace}`,
  },
  BucketNotEmpty: {
    message: ({ namespace = "" }) => `The namespace "${escapeControls(namespace)}" is not empty.`,
    hint: ({ namespace = "<name>" }) =>
      `Delete it with all its contents: store kv namespace delete ${namespace} --force`,
  },
  BucketConflict: {
    message: ({ namespace = "" }) =>
      `The namespace "${escapeControls(namespace)}" already exists; nothing was changed.`,
    hint: ({ namespace = "<name>" }) => `List its keys: store kv list ${namespace}`,
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
  const message = mapped instanceof Error ? mapped.message : String(mapped);
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
