// The key that seals secrets and credentials: from the environment, or from a private file in the
// data directory, which is created on first use. Messages contain the file's name, never the key.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Location } from "../model/names/location.ts";
import { parseSecretKey, secretKeyBytes } from "./seal.ts";

export const secretKeyFile = "secret.key";

export class SecretKeyError extends Error {
  override readonly name = "SecretKeyError";
}

export function loadSecretKey(location: Location, fromEnvironment: string | undefined): Uint8Array {
  if (fromEnvironment !== undefined) return environmentKey(location, fromEnvironment);
  if (typeof location !== "string") {
    throw new SecretKeyError(
      "Secrets and access keys of a cluster are sealed with the key in STORE_SECRET_KEY, which is not set.\n" +
        "  Create one and keep it: openssl rand -hex 32\n" +
        "  Set it for every process of this store: without it, secrets and access keys are lost.",
    );
  }
  // A store in memory is never reopened, so its key is not stored.
  if (location === "memory:") return randomBytes(secretKeyBytes);
  const file = join(location, secretKeyFile);
  return readKey(file) ?? makeKey(file);
}

/** Returns the key of a data directory, if any. Does not create a key. */
export function findSecretKey(
  directory: string,
  fromEnvironment: string | undefined,
): Uint8Array | undefined {
  return environmentSecretKey(fromEnvironment) ?? readKey(join(directory, secretKeyFile));
}

/** Parses the key from the environment variable, if it is set. */
export function environmentSecretKey(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : environmentKey("", text);
}

function environmentKey(location: Location, text: string): Uint8Array {
  const key = parseSecretKey(text);
  if (key !== undefined) return key;
  throw new SecretKeyError(
    `STORE_SECRET_KEY must be 64 hex digits, or ${secretKeyBytes} bytes in base64.\n` +
      "  Create one with: openssl rand -hex 32\n" +
      (typeof location === "string"
        ? `  Or unset it: the key is then kept in the file ${secretKeyFile} of the data directory.`
        : "  All processes of one store need the same key."),
  );
}

function readKey(file: string): Uint8Array | undefined {
  let text: string;
  try {
    text = readPrivateFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (error instanceof SecretKeyError || code === undefined) throw error;
    throw new SecretKeyError(`Cannot read the key file ${file}: ${code}.`, { cause: error });
  }
  const key = parseSecretKey(text);
  if (key === undefined) {
    throw new SecretKeyError(
      `The key file ${file} does not contain a key: it must be 64 hex digits.\n` +
        "  Restore the original file: without it, the secrets and credentials sealed with it are lost.",
    );
  }
  return key;
}

function readPrivateFile(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const { mode } = fstatSync(descriptor);
    // Windows has no permissions for group and others, and reports all of them as set.
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new SecretKeyError(
        `Other users can access the key file ${file}.\n` +
          `  Make it private with: chmod 600 ${file}\n` +
          "  Where the file system cannot do that, set STORE_SECRET_KEY instead.",
      );
    }
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes and syncs the key, then links it to its name, so that concurrent processes get one key.
 */
function makeKey(file: string): Uint8Array {
  const directory = dirname(file);
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeDurably(draft, `${randomBytes(secretKeyBytes).toString("hex")}\n`);
    try {
      linkSync(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    syncDirectory(directory);
  } catch (cause) {
    throw new SecretKeyError(
      `Cannot create the key file ${file}: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}.`,
      { cause },
    );
  } finally {
    rmSync(draft, { force: true });
  }
  const key = readKey(file);
  if (key === undefined) throw new SecretKeyError(`The key file ${file} is a link to a missing file.`);
  return key;
}

function writeDurably(file: string, text: string): void {
  const descriptor = openSync(file, "wx", 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
