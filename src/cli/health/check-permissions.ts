// Checks who may access the data directory and the key that seals secrets.
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { secretKeyFile } from "../../secrets/master-key.ts";
import { shellWord } from "../framework/shell-quote.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

export function checkPermissions(directory: string, hasKeyInEnvironment: boolean): Finding[] {
  return [checkDirectoryMode(directory), checkKey(directory, hasKeyInEnvironment)];
}

const otherUsers = 0o077;

function checkDirectoryMode(directory: string): Finding {
  const check = "permissions";
  const { mode, uid } = statSync(directory);
  const own = process.getuid?.();
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return problem(
      check,
      `This user may not read and write the data directory, which belongs to user ${uid}.`,
      `Run Store as user ${uid}, or change the owner: chown -R USER ${shellWord(directory)}`,
    );
  }
  if (own !== undefined && own !== uid) {
    return warning(
      check,
      `The data directory belongs to user ${uid}, this command runs as user ${own}.`,
      `Run commands as user ${uid}: files that this user creates may be closed to the server.`,
    );
  }
  if ((mode & otherUsers) !== 0 && own !== undefined) {
    return warning(
      check,
      `Other users may access the data directory (mode ${(mode & 0o777).toString(8)}).`,
      `Make it private: chmod 700 ${shellWord(directory)}`,
    );
  }
  return ok(check, "Only its owner may access the data directory.");
}

function checkKey(directory: string, hasKeyInEnvironment: boolean): Finding {
  const check = "secret key";
  const path = join(directory, secretKeyFile);
  if (hasKeyInEnvironment) return ok(check, "STORE_SECRET_KEY holds the key that seals secrets.");
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    return ok(check, `${secretKeyFile} does not exist yet; the first secret or access key creates it.`);
  }
  if ((found.mode & otherUsers) !== 0 && process.getuid !== undefined) {
    return problem(
      check,
      `Other users may read ${secretKeyFile} (mode ${(found.mode & 0o777).toString(8)}).`,
      `Make it private: chmod 600 ${shellWord(path)}`,
    );
  }
  return ok(check, `Only its owner may read ${secretKeyFile}.`);
}

export function checkClusterKey(hasKeyInEnvironment: boolean): Finding {
  const check = "secret key";
  if (hasKeyInEnvironment) return ok(check, "STORE_SECRET_KEY holds the key that seals secrets.");
  return problem(
    check,
    "STORE_SECRET_KEY is not set: secrets and access keys of a cluster cannot be read.",
    "Set the key of this cluster for every process. For a new cluster: openssl rand -hex 32",
  );
}
