// Reads the OpenID providers of the console from the file of --console-oidc. Client secrets come from
// the environment or from files of their own, so that the file can be shared.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ProviderOptions } from "../../../console/auth/providers.ts";
import { mergePermissions, type Permissions, parsePermission } from "../../../console/auth/roles.ts";
import { issuerFlaw } from "../../../oidc/provider-url.ts";
import { configError } from "../../../script/config/syntax/error.ts";
import {
  createFields,
  type Fields,
  type KnownKeys,
  type Table,
} from "../../../script/config/syntax/fields.ts";
import type { ConfigPath } from "../../../script/config/syntax/positions.ts";
import { readSource } from "../../../script/config/syntax/source.ts";
import type { Invocation, Option } from "../../framework/command.ts";
import { pathArgument } from "../../framework/path-argument.ts";

export const providerOption: Readonly<Record<string, Option>> = {
  "console-oidc": {
    value: "FILE",
    summary: "file with the OpenID providers that sign users in to the console",
  },
};

const keys: KnownKeys = {
  "": ["providers"],
  providers: [
    ...["name", "title", "issuer", "client_id", "client_secret_env", "client_secret_file"],
    ...["scopes", "group_claim", "roles"],
  ],
};
const defaultScopes = ["profile", "email"];
const example = '[[providers]]\nname = "company"';

/** Throws a ConfigError with every fault of the file. */
export function providerSettings({
  options,
  directory,
  environment,
}: Invocation): readonly ProviderOptions[] {
  const given = options.text("console-oidc");
  if (given === undefined) return [];
  const path = pathArgument({ directory }, { label: "--console-oidc", text: given, expected: "a file" });
  const source = readSource(path);
  const fields = createFields(source, { keys });
  const top = fields.table([], source.value, example) ?? {};
  const context = { fields, folder: dirname(source.file), environment };
  const all = fields.list(["providers"], top.providers, example);
  if (all.length === 0) fields.missing(["providers"], `Write: ${example}`);
  const providers = all.map(({ path, value }) => parseProvider(context, path, value));
  const names = providers.map((provider) => provider?.name);
  for (const [index, name] of names.entries()) {
    if (name !== undefined && names.indexOf(name) < index)
      fields.report(["providers", index, "name"], { message: `There are two providers named "${name}".` });
  }
  if (fields.faults.length > 0) throw configError(source, fields.faults);
  return providers as ProviderOptions[];
}

interface ProviderContext {
  readonly fields: Fields;
  /** Folder of the file, to which paths in the file are relative. */
  readonly folder: string;
  readonly environment: Invocation["environment"];
}

/** Undefined if the entry has faults, which are reported. */
function parseProvider(
  context: ProviderContext,
  path: ConfigPath,
  value: unknown,
): ProviderOptions | undefined {
  const { fields } = context;
  const table = fields.table(path, value, example);
  if (table === undefined) return undefined;
  const name = requiredText(fields, [...path, "name"], table, "company");
  if (name !== undefined && !/^[a-z0-9][a-z0-9-]{0,30}$/.test(name))
    fields.report([...path, "name"], {
      message: '"name" has up to 31 lowercase letters, digits and dashes.',
    });
  const issuer = requiredText(fields, [...path, "issuer"], table, "https://login.example.com");
  const flaw = issuer === undefined ? undefined : issuerFlaw(issuer);
  if (flaw !== undefined) fields.report([...path, "issuer"], { message: `"issuer" ${flaw}.` });
  const clientId = requiredText(fields, [...path, "client_id"], table, "store-console");
  const clientSecret = readClientSecret(context, path, table);
  const groups = parseGroups(fields, [...path, "roles"], table.roles);
  const groupClaim = optionalText(fields, [...path, "group_claim"], table) ?? "groups";
  const title = optionalText(fields, [...path, "title"], table) ?? name ?? "";
  const scopes = parseScopes(fields, [...path, "scopes"], table.scopes);
  if (name === undefined || issuer === undefined || clientId === undefined) return undefined;
  return { name, title, issuer, clientId, clientSecret, scopes, groupClaim, groups };
}

function requiredText(fields: Fields, path: ConfigPath, table: Table, sample: string): string | undefined {
  const key = String(path.at(-1));
  const line = fields.line(key, sample);
  if (table[key] === undefined) fields.missing(path, `Write: ${line}`);
  const text = fields.string(path, table[key], line);
  if (text === "") fields.report(path, { message: `"${key}" must not be empty.` });
  return text;
}

function optionalText(fields: Fields, path: ConfigPath, table: Table): string | undefined {
  const key = String(path.at(-1));
  return fields.string(path, table[key], fields.line(key, "…"));
}

function parseScopes(fields: Fields, path: ConfigPath, value: unknown): readonly string[] {
  if (value === undefined) return defaultScopes;
  const line = fields.line("scopes", ["profile", "email"]);
  return fields.list(path, value, line).flatMap((one) => fields.string(one.path, one.value, line) ?? []);
}

/** Reads `[providers.roles]`: a role, `bucket:role`, or a list of them for each group. */
function parseGroups(fields: Fields, path: ConfigPath, value: unknown): Map<string, Permissions> {
  const line = fields.line("storage-admins", "administrator");
  const groups = new Map<string, Permissions>();
  const table = fields.table(path, value, line);
  if (table === undefined || Object.keys(table).length === 0) {
    if (value === undefined || table !== undefined)
      fields.missing(path, `Without roles nobody can sign in. Write:\n[providers.roles]\n${line}`);
    return groups;
  }
  for (const [group, given] of Object.entries(table)) {
    const at = [...path, group];
    const texts = Array.isArray(given) ? fields.list(at, given, line) : [{ path: at, value: given }];
    const all = texts.flatMap((one) => {
      const text = fields.string(one.path, one.value, line);
      return text === undefined ? [] : (checkPermission(fields, one.path, text) ?? []);
    });
    groups.set(group, mergePermissions(all));
  }
  return groups;
}

function checkPermission(fields: Fields, path: ConfigPath, text: string): Permissions | undefined {
  try {
    return parsePermission(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const hint = 'Write a role such as "viewer", or a bucket and a role such as "photos:editor".';
    fields.report(path, { message: error.message, hint });
    return undefined;
  }
}

/** Undefined for a public client without a secret. */
function readClientSecret(
  { fields, folder, environment }: ProviderContext,
  path: ConfigPath,
  table: Table,
): string | undefined {
  const variable = optionalText(fields, [...path, "client_secret_env"], table);
  const file = optionalText(fields, [...path, "client_secret_file"], table);
  if (variable !== undefined && file !== undefined) {
    const message = "Specify the client secret once: client_secret_env or client_secret_file.";
    fields.report([...path, "client_secret_file"], { message, at: "key" });
    return undefined;
  }
  if (variable !== undefined) {
    const secret = environment[variable];
    if (secret === undefined || secret === "")
      fields.report([...path, "client_secret_env"], { message: `The variable ${variable} is not set.` });
    return secret;
  }
  if (file === undefined) return undefined;
  try {
    const secret = readFileSync(resolve(folder, file), "utf8").trim();
    if (secret !== "") return secret;
    fields.report([...path, "client_secret_file"], { message: `${file} is empty.` });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    fields.report([...path, "client_secret_file"], { message: `Cannot read ${file}: ${code}.` });
  }
  return undefined;
}
