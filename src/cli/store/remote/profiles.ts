// Profiles: services by name, with their access keys, in one file that only its owner can read.
import { randomBytes } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { isFields, isText } from "../../../model/shape.ts";
import type { Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { fileError, systemCode } from "../../framework/failures.ts";
import { shellWord } from "../../framework/shell-quote.ts";
import { serviceUrl } from "./service-url.ts";

export interface Profile {
  /** URL of the S3 API, without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** URL of the console, for keys, users, quotas and logs. */
  readonly console?: string | undefined;
  readonly consoleToken?: string | undefined;
}

export type Profiles = ReadonlyMap<string, Profile>;

const maxFileBytes = 1024 * 1024;
const maxProfiles = 1000;
const maxTextLength = 8192;
const nameShape = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

export function checkProfileName(name: string): void {
  if (nameShape.test(name)) return;
  throw usageError(`"${name}" is not a valid name of a profile.`, [
    "Use 1 to 63 letters, digits, dashes and underscores, with a letter or digit first.",
  ]);
}

export function profilesFile({ environment }: Pick<Invocation, "environment">): string {
  const base = environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), ".config");
  return join(base, "store", "profiles.json");
}

/** Returns an empty map if there is no file. Refuses a file that other users can read. */
export async function readProfiles(invocation: Pick<Invocation, "environment">): Promise<Profiles> {
  const file = profilesFile(invocation);
  let text: string;
  try {
    const { mode, size } = await stat(file);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new CommandError(`The profiles in "${file}" can be read by other users.`, {
        hint: `Protect them: chmod 600 ${shellWord(file)}`,
      });
    }
    if (size > maxFileBytes) throw invalidFile(file, "it is larger than 1 MiB");
    text = await readFile(file, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return new Map();
    throw fileError(error, "read the profiles in", file);
  }
  return parseProfiles(text, file);
}

function parseProfiles(text: string, file: string): Profiles {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The error of the parser may quote a secret.
    throw invalidFile(file, "it is not JSON");
  }
  const entries = isFields(parsed) && isFields(parsed.profiles) ? Object.entries(parsed.profiles) : undefined;
  if (entries === undefined) throw invalidFile(file, 'it has no object "profiles"');
  if (entries.length > maxProfiles) throw invalidFile(file, `it has more than ${maxProfiles} profiles`);
  return new Map(entries.map(([name, value]) => [name, parseProfile(name, value, file)]));
}

function parseProfile(name: string, value: unknown, file: string): Profile {
  const wrong = (why: string) => invalidFile(file, `the profile "${name.slice(0, 63)}" ${why}`);
  if (!nameShape.test(name)) throw wrong("has a name that is not valid");
  if (!isFields(value)) throw wrong("is not an object");
  const unknown = Object.keys(value).find((field) => !Object.hasOwn(fields, field));
  if (unknown !== undefined) throw wrong(`has an unknown field "${unknown.slice(0, 63)}"`);
  for (const [field, isRequired] of Object.entries(fields)) {
    const given = value[field];
    if (given === undefined && !isRequired) continue;
    if (!isText(given, maxTextLength) || given === "") throw wrong(`has no valid "${field}"`);
  }
  const profile = value as unknown as Profile;
  for (const field of ["endpoint", "console"] as const) {
    const url = profile[field];
    if (url !== undefined && serviceUrl(url) === undefined) throw wrong(`has no valid URL in "${field}"`);
  }
  return profile;
}

const fields: Readonly<Record<keyof Profile, boolean>> = {
  endpoint: true,
  region: true,
  accessKeyId: true,
  secretAccessKey: true,
  sessionToken: false,
  console: false,
  consoleToken: false,
};

function invalidFile(file: string, why: string): CommandError {
  return new CommandError(`Cannot use the profiles in "${file}": ${why}.`, {
    hint: "Correct the file, or delete it and add the profiles again: store profile add NAME --endpoint URL",
  });
}

/** Replaces the file as a whole, so that a reader never sees half of it. */
export async function writeProfiles(
  invocation: Pick<Invocation, "environment">,
  profiles: Profiles,
): Promise<void> {
  const file = profilesFile(invocation);
  const partial = `${file}.${randomBytes(6).toString("hex")}.part`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(partial, "wx", 0o600);
    try {
      // The umask may have removed rights of the owner.
      await chmod(partial, 0o600);
      await handle.writeFile(`${JSON.stringify({ profiles: Object.fromEntries(profiles) }, undefined, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    throw fileError(error, "write the profiles to", file);
  }
}

export async function requireProfile(
  invocation: Pick<Invocation, "environment">,
  name: string,
): Promise<Profile> {
  const profiles = await readProfiles(invocation);
  const found = profiles.get(name);
  if (found !== undefined) return found;
  const names = [...profiles.keys()];
  throw new CommandError(`There is no profile "${name}".`, {
    hint: [
      ...(names.length === 0 ? [] : [`Profiles: ${names.join(", ")}`]),
      `Add it: store profile add ${nameShape.test(name) ? name : "NAME"} --endpoint https://s3.example.com`,
    ],
  });
}
