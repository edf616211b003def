// Where a command works: the engine on its store, always closed, and what must hold of a data directory.
import { existsSync, readdirSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join, relative } from "node:path";
import { type AuditAction, createAuditRecorder } from "../../audit/audit-log.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { CopyError } from "../../model/copy.ts";
import { StoreError } from "../../model/errors.ts";
import { formatLocation, type Location } from "../../model/location.ts";
import { type OpenEngine, openEngine } from "../../open.ts";
import { loadSecretKey } from "../../secrets/master-key.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { fileError, type Subject, systemCode, toCommandError } from "../framework/failures.ts";
import { storeLocation } from "./store-location.ts";

export interface Data extends OpenEngine {
  readonly location: Location;
  /** What secrets and credentials are sealed with. */
  secretKey(): Uint8Array;
  /** Notes what this command has done, when it is done. */
  recordAudit(action: AuditAction, subject: string): Promise<void>;
  /**
   * Frees the bytes that deletes and overwrites have left and ends overdue uploads. A server does so by itself
   * now and then; where only commands run, nobody else would.
   */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export interface DataOptions {
  /** What to do when there is no data directory yet. A cluster is made by `store migrate` alone. */
  readonly absent: "create" | "refuse";
  /** To name in the message when the work fails. */
  readonly subject?: Subject;
  /** Where the store counts what it does. */
  readonly metrics?: Metrics;
  /** Open multipart uploads of each bucket. */
  readonly openUploads?: number;
}

/** Opens the store for as long as the work takes. */
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
      // What went wrong first is what to tell.
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
  const { engine, documents, commitForOthers, auditLog } = await openEngine(location, {
    ...(metrics && { metrics }),
    ...(openUploads !== undefined && { openUploads }),
  }).catch((error: unknown) => {
    throw openError(invocation, location, error);
  });
  let secretKey: Uint8Array | undefined;
  return {
    engine,
    documents,
    location,
    commitForOthers,
    auditLog,
    recordAudit(action, subject) {
      const by = { face: "command line", name: userName() } as const;
      const warn = (line: string) => invocation.output.note(`warning: ${line}`);
      return createAuditRecorder(auditLog, Date.now, warn)({ act: action, subject, by });
    },
    secretKey() {
      secretKey ??= loadSecretKey(location, invocation.environment.STORE_SECRET_KEY || undefined);
      return secretKey;
    },
    async tidy() {
      try {
        await engine.sweep();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        invocation.output.note(`warning: space could not be freed and will be later: ${why}`);
      }
    },
    close: () => engine.close(),
  };
}

/** Undefined where the system knows none by that number, as in some containers. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** Whether there is a store; a command that only asks must not make one. */
export function hasData(location: Location): boolean {
  return typeof location !== "string" || existsSync(join(location, "registry.db"));
}

/** What a data directory may hold when its making was cut off. */
const ownNames = /^(registry\.db.*|processes|buckets|trash|reserve.*|writer.*|secret\.key.*|audit\.log.*)$/;
const unfinishedRestore = "restore.unfinished";

/** Refuses when there is no data directory. */
export function requireData(invocation: Invocation, location: string): void {
  checkDirectory(invocation, location, "refuse");
}

/** Refuses what cannot be, or become, a data directory. */
export function checkDirectory(invocation: Invocation, location: string, absent: "create" | "refuse"): void {
  const path = displayPath(invocation, location);
  if (existsSync(join(location, unfinishedRestore))) {
    throw new CommandError(`A backup was being restored into "${path}", and that was not finished.`, {
      hint: "Run the same store restore again: it goes on where it was cut off.",
    });
  }
  if (hasData(location)) return;
  if (absent === "refuse") {
    throw new CommandError(`There is no data directory at "${path}" yet.`, {
      hint: [
        "Creating a bucket makes it: store bucket create <name>",
        "Should it be elsewhere, name it: --data DIR or STORE_DATA",
      ],
    });
  }
  let names: string[];
  try {
    if (statSync(location, { throwIfNoEntry: false }) === undefined) return;
    names = readdirSync(location);
  } catch (error) {
    if (systemCode(error) === "ENOTDIR")
      throw new CommandError(`Cannot keep data in "${path}": it is no folder.`);
    throw fileError(error, "use the data directory", path);
  }
  const foreign = names.find((name) => !ownNames.test(name));
  if (foreign !== undefined) {
    throw new CommandError(`"${path}" is no data directory: it holds other files, such as "${foreign}".`, {
      hint: "Name a new or empty folder: --data DIR or STORE_DATA",
    });
  }
}

function openError(invocation: Invocation, location: Location, error: unknown): unknown {
  // Says by itself what to do.
  if (error instanceof CopyError) return error;
  if (typeof location !== "string") {
    const why = error instanceof StoreError ? error.detail : error instanceof Error ? error.message : error;
    return new CommandError(`Cannot open the store in ${formatLocation(location)}: ${why}`, { cause: error });
  }
  const path = displayPath(invocation, location);
  const mapped = fileError(error, "open the data directory", path);
  if (mapped !== error || !(error instanceof Error)) return mapped;
  return new CommandError(`Cannot open the data directory "${path}": ${error.message}`, { cause: error });
}

/** A path as it would be typed here. */
export function displayPath(invocation: Invocation, path: string): string {
  const short = relative(invocation.directory, path);
  return short === "" || short.startsWith("..") ? path : short;
}
