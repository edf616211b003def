// Opens the store for a command and closes it afterwards. Checks that a folder is a data directory.
import { existsSync, readdirSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join, relative } from "node:path";
import type { AuditAction } from "../../audit/audit-log.ts";
import { createAuditRecorder } from "../../audit/recorder.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { CopyError } from "../../model/copy.ts";
import { errorMessage, StoreError } from "../../model/errors.ts";
import { formatLocation, type Location } from "../../model/names/location.ts";
import { type OpenEngine, openEngine } from "../../open.ts";
import { loadSecretKey } from "../../secrets/master-key.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { fileError, type Subject, systemCode, toCommandError } from "../framework/failures.ts";
import { storeEncryption, storeLocation } from "./store-location.ts";

export interface Data extends OpenEngine {
  readonly location: Location;
  /** "always": every new object is encrypted with the store's key. */
  readonly encryption: "always" | undefined;
  /** Returns the key that encrypts secrets and credentials. */
  secretKey(): Uint8Array;
  /** Records a finished action in the audit log. */
  recordAudit(action: AuditAction, subject?: string, detail?: string): Promise<void>;
  /**
   * Frees the space of deleted and overwritten objects and aborts expired uploads. A server does
   * this regularly; without a server, only commands do it.
   */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export interface DataOptions {
  /** What to do if the data directory is missing. Only `store migrate` creates a cluster. */
  readonly absent: "create" | "refuse";
  /** Names for error messages. */
  readonly subject?: Subject;
  readonly metrics?: Metrics;
  /** Maximum number of open multipart uploads in each bucket. */
  readonly openUploads?: number;
}

/** Opens the store, runs `work` and closes the store. */
export async function withData<T>(
  invocation: Invocation,
  options: DataOptions,
  work: (data: Data) => Promise<T>,
): Promise<T> {
  const data = await openData(invocation, options);
  let result: T;
  try {
    result = await work(data);
  } catch (error) {
    await data.close().catch(() => {
      // Ignore an error of close: the error of `work` is more useful.
    });
    const storeKind = typeof data.location === "string" ? undefined : ("cluster" as const);
    throw toCommandError(error, { ...options.subject, storeKind });
  }
  await data.close();
  return result;
}

export async function openData(
  invocation: Invocation,
  { absent, metrics, openUploads }: DataOptions,
): Promise<Data> {
  const location = await storeLocation(invocation);
  if (typeof location === "string" && location !== "memory:") checkDirectory(invocation, location, absent);
  const encryption = await storeEncryption(invocation);
  let loadedKey: Uint8Array | undefined;
  const secretKey = () => {
    loadedKey ??= loadSecretKey(location, invocation.environment.STORE_SECRET_KEY || undefined);
    return loadedKey;
  };
  const { engine, documents, commitForOthers, auditLog } = await openEngine(location, {
    ...(metrics && { metrics }),
    ...(openUploads !== undefined && { openUploads }),
    secretKey,
    encryption,
  }).catch((error: unknown) => {
    throw openError(invocation, location, error);
  });
  return {
    engine,
    documents,
    location,
    encryption,
    commitForOthers,
    auditLog,
    async recordAudit(action, subject, detail) {
      const by = { face: "command line", name: userName() } as const;
      const warn = (line: string) => invocation.output.note(`warning: ${line}`);
      const audit = createAuditRecorder({ log: auditLog, now: Date.now, warn });
      await audit.record({ act: action, subject, detail, by });
      await audit.flush();
    },
    secretKey,
    async tidy() {
      try {
        await engine.sweep();
      } catch (error) {
        const why = errorMessage(error);
        invocation.output.note(`warning: could not free space now; it will be freed later: ${why}`);
      }
    },
    close: () => engine.close(),
  };
}

/** Name of the user; undefined when the user id has no name, as in some containers. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** Whether a store exists. Commands that only read must not create one. */
export function hasData(location: Location): boolean {
  if (typeof location !== "string") return true;
  try {
    // Unlike existsSync, this throws if the permission to look is missing.
    return statSync(join(location, "registry.db"), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (systemCode(error) === "ENOTDIR") return false;
    throw error;
  }
}

/** Names of files and folders that an interrupted creation of a data directory may leave. */
const ownNames = /^(registry\.db.*|processes|buckets|trash|reserve.*|writer.*|secret\.key.*|audit\.log.*)$/;
const unfinishedRestore = "restore.unfinished";

/** Throws when there is no data directory. */
export function requireData(invocation: Invocation, location: string): void {
  checkDirectory(invocation, location, "refuse");
}

/** Throws when the location is not a data directory and cannot become one. */
export function checkDirectory(invocation: Invocation, location: string, absent: "create" | "refuse"): void {
  const path = displayPath(invocation, location);
  if (isPresent(invocation, location, () => existsSync(join(location, unfinishedRestore)))) {
    throw new CommandError(`The restore to "${path}" is not complete.`, {
      hint: "Run the same store restore command again to resume it.",
    });
  }
  if (isPresent(invocation, location, () => hasData(location))) return;
  if (absent === "refuse") {
    throw new CommandError(`There is no data directory at "${path}".`, {
      hint: [
        "Create it with its first bucket: store bucket create <name>",
        "Or use another location: --data DIR or STORE_DATA",
      ],
    });
  }
  let names: string[];
  try {
    if (statSync(location, { throwIfNoEntry: false }) === undefined) return;
    names = readdirSync(location);
  } catch (error) {
    if (systemCode(error) === "ENOTDIR")
      throw new CommandError(`Cannot store data in "${path}": it is not a folder.`);
    throw fileError(error, "use the data directory", path);
  }
  const foreign = names.find((name) => !ownNames.test(name));
  if (foreign !== undefined) {
    throw new CommandError(
      `"${path}" is not a data directory: it contains other files, such as "${foreign}".`,
      { hint: "Use a new or empty folder: --data DIR or STORE_DATA" },
    );
  }
}

/** Throws if the user may not look: missing permission must not read like missing data. */
function isPresent(invocation: Invocation, location: string, look: () => boolean): boolean {
  try {
    return look();
  } catch (error) {
    throw accessError(
      invocation,
      location,
      fileError(error, "open the data directory", displayPath(invocation, location)),
    );
  }
}

/** Adds the owner of the data directory to an error of missing permission. */
function accessError(invocation: Invocation, location: string, error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  const code = systemCode(error.cause);
  if (code !== "EACCES" && code !== "EPERM") return error;
  return new CommandError(error.message, { hint: accessHints(invocation, location), cause: error.cause });
}

function accessHints(invocation: Invocation, location: string): string[] {
  const own = process.getuid?.();
  let owner: number | undefined;
  try {
    owner = statSync(location).uid;
  } catch {
    // The folders above it are closed, too.
  }
  const path = displayPath(invocation, location);
  if (owner === undefined || owner === own) return [`Check the permissions: ls -ld "${path}"`];
  return [`It belongs to user ${owner}, and this command runs as user ${own}. Run it as user ${owner}.`];
}

/** SQLite's codes for a database that may not be written, or not even opened. */
const sqliteReadOnly = 8;
const sqliteCannotOpen = 14;

function sqliteAccessError(
  invocation: Invocation,
  location: string,
  error: unknown,
): CommandError | undefined {
  const { errcode } = error as { readonly errcode?: unknown };
  const code = typeof errcode === "number" ? errcode & 0xff : undefined;
  if (code !== sqliteReadOnly && code !== sqliteCannotOpen) return undefined;
  const why =
    code === sqliteReadOnly
      ? "its files are read-only for this user, or its file system is read-only"
      : "a file in it cannot be opened; permission may be missing";
  const message = `Cannot open the data directory "${displayPath(invocation, location)}": ${why}.`;
  return new CommandError(message, { hint: accessHints(invocation, location), cause: error });
}

function openError(invocation: Invocation, location: Location, error: unknown): unknown {
  // The message of a CopyError already contains advice.
  if (error instanceof CopyError) return error;
  if (typeof location !== "string") {
    const why = error instanceof StoreError ? error.detail : error instanceof Error ? error.message : error;
    return new CommandError(`Cannot open the store in ${formatLocation(location)}: ${why}`, { cause: error });
  }
  const path = displayPath(invocation, location);
  const mapped =
    sqliteAccessError(invocation, location, error) ??
    accessError(invocation, location, fileError(error, "open the data directory", path));
  if (mapped !== error || !(error instanceof Error)) return mapped;
  return new CommandError(`Cannot open the data directory "${path}": ${error.message}`, { cause: error });
}

/** Returns a path below the working directory as a relative path, other paths unchanged. */
export function displayPath(invocation: Invocation, path: string): string {
  const short = relative(invocation.directory, path);
  return short === "" || short.startsWith("..") ? path : short;
}
