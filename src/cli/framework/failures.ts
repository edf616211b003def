// What went wrong, for a person: one clear message, what to do about it, and the exit code. Every reason of
// the store has its words here, so a new one does not compile until it is answered.
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

/** What a command was about, to name it in the message. */
export interface Subject {
  readonly bucket?: string | undefined;
  /** A key-value namespace, in place of a bucket. */
  readonly namespace?: string | undefined;
  readonly key?: string | undefined;
  /** What holds the data, where that is no directory. */
  readonly storeKind?: "cluster" | undefined;
}

interface MessageTemplate {
  readonly exitCode?: 2;
  readonly message?: (subject: Subject) => string;
  readonly hint?: string | ((subject: Subject) => string | readonly string[]);
}

const messageTemplates: Readonly<Record<Reason, MessageTemplate>> = {
  InternalError: {},
  Damaged: { hint: "Find out what is damaged: store verify" },
  AccessDenied: {},
  InvalidPartNumber: {},
  InvalidBucketName: {
    exitCode: 2,
    message: ({ bucket = "" }) => `"${escapeControls(bucket)}" cannot be the name of a bucket.`,
    hint: "Use 3 to 63 lowercase letters, digits, dots and dashes, a letter or digit at both ends, no two dots in a row.",
  },
  NoSuchBucket: {
    message: ({ bucket = "" }) => `There is no bucket "${escapeControls(bucket)}".`,
    hint: ({ bucket = "<name>" }) => [
      `Create it: store bucket create ${bucket}`,
      "See which there are: store bucket list",
    ],
  },
  NoSuchKey: {
    message: ({ bucket = "", key = "" }) =>
      `There is no object "${escapeControls(key)}" in bucket "${escapeControls(bucket)}".`,
    hint: ({ bucket = "<bucket>" }) => `See which there are: store object list ${bucket}`,
  },
  BucketNotEmpty: {
    message: ({ bucket = "" }) => `The bucket "${escapeControls(bucket)}" is not empty.`,
    hint: ({ bucket = "<name>" }) => `Delete it with everything in it: store bucket delete ${bucket} --force`,
  },
  EntityTooSmall: {},
  MetadataTooLarge: {
    exitCode: 2,
    message: () => "The metadata is too large: all names and values together may have 8,192 bytes.",
  },
  IncompleteBody: {
    message: () => "The file changed while it was being read; nothing was stored.",
    hint: "Try again when nothing else writes to it.",
  },
  InvalidDigest: {},
  InvalidObjectName: {
    exitCode: 2,
    message: () => "The key is too long: it may have 1,024 bytes.",
  },
  InvalidMaxKeys: { exitCode: 2 },
  NoSuchUpload: {
    message: () => "The upload was ended by someone else; nothing was stored.",
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
        ? "Look whether PostgreSQL and what holds the bytes can be reached, then try again."
        : "Look at the disk and at the system's log, then try again.",
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
    message: ({ bucket = "" }) => `The bucket "${escapeControls(bucket)}" exists already; it is as it was.`,
    hint: ({ bucket = "<name>" }) => `Look at it: store bucket info ${bucket}`,
  },
  EntityTooLarge: {
    message: () => "The object is too large: it may have 5,492,189,429,760 bytes (4.995 TiB).",
  },
};

/** Words of commands about a namespace, where they differ. */
const namespaceTemplates: Partial<Record<Reason, MessageTemplate>> = {
  InvalidBucketName: {
    exitCode: 2,
    message: ({ namespace = "" }) => `"${escapeControls(namespace)}" cannot be the name of a namespace.`,
    hint: `Use ${namespaceNameRule}.`,
  },
  NoSuchBucket: {
    message: ({ namespace = "" }) => `There is no namespace "${escapeControls(namespace)}".`,
    hint: ({ namespace = "<name>" }) => [
      `Create it: store kv namespace create ${namespace}`,
      "See which there are: store kv namespace list",
    ],
  },
  NoSuchKey: {
    message: ({ namespace = "", key = "" }) =>
      `There is no key "${escapeControls(key)}" in namespace "${escapeControls(namespace)}".`,
    hint: ({ namespace = "<namespace>" }) => `See which there are: store kv list ${namespace}`,
  },
  BucketNotEmpty: {
    message: ({ namespace = "" }) => `The namespace "${escapeControls(namespace)}" is not empty.`,
    hint: ({ namespace = "<name>" }) =>
      `Delete it with everything in it: store kv namespace delete ${namespace} --force`,
  },
  BucketConflict: {
    message: ({ namespace = "" }) =>
      `The namespace "${escapeControls(namespace)}" already exists; nothing was changed.`,
    hint: ({ namespace = "<name>" }) => `See its keys: store kv list ${namespace}`,
  },
};

/** The store's error as the command line tells it. Others pass as they are. */
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

/** Runs a check of the store's, and tells what it finds wrong in the words of the command line. */
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
    // Paths and keys that a backup or a copy tells of are as others have named them.
    const format = mapped instanceof CommandError ? (text: string) => text : escapeControls;
    const lines = [`${label} ${format(mapped.message)}`, ...mapped.hints.map((hint) => `  ${format(hint)}`)];
    return { text: lines.join("\n"), exitCode: mapped instanceof CommandError ? mapped.exitCode : 1 };
  }
  const isExpected =
    mapped instanceof SecretError || mapped instanceof SecretKeyError || mapped instanceof CredentialError;
  if (isExpected) return { text: `${label} ${mapped.message}`, exitCode: 1 };
  const code = systemCode(mapped);
  if (mapped instanceof Error && code !== undefined && fileReasons[code] !== undefined) {
    const { syscall = "go on", path } = mapped as NodeJS.ErrnoException;
    const what = path === undefined ? syscall : `${syscall} "${escapeControls(path)}"`;
    return { text: `${label} Cannot ${what}: ${fileReasons[code]}.`, exitCode: 1 };
  }
  const message = mapped instanceof Error ? mapped.message : String(mapped);
  return { text: `${label} ${message}\n  To see where it comes from: STORE_DEBUG=1`, exitCode: 1 };
}

/** A file could not be used: why, in words, for the codes that people meet. */
export function fileError(error: unknown, action: string, path: string): unknown {
  const code = systemCode(error);
  // A reader that went away is no failure of a file.
  if (!(error instanceof Error) || code === undefined || code === "EPIPE" || !("syscall" in error))
    return error;
  const reason = fileReasons[code] ?? `the system says ${code}`;
  return new CommandError(`Cannot ${action} "${escapeControls(path)}": ${reason}.`, { cause: error });
}

export function systemCode(error: unknown): string | undefined {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return typeof code === "string" ? code : undefined;
}

const fileReasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of the path is no folder",
  EISDIR: "it is a folder",
  EACCES: "permission is denied",
  EPERM: "it is not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "its links go in a circle",
  ENXIO: "nothing is at its other end",
  EIO: "the disk reports an error",
};
