// `store role …`: manages roles, whose grants trusted callers receive for a limited time through STS.
// Running servers apply a change to their next request.

import { parseDuration } from "../../access/grants.ts";
import { CredentialError, checkAccount, checkGrantBucket } from "../../access/keys/new-credential.ts";
import {
  createRoles,
  type Role,
  RoleError,
  type Roles,
  roleSeconds,
  type TrustedProvider,
} from "../../access/temporary/roles.ts";
import { defaultAccount } from "../../model/bucket.ts";
import { issuerFlaw } from "../../oidc/provider-url.ts";
import type { Command, CommandGroup, Invocation } from "../framework/command.ts";
import { CommandError, parseOrUsageError, usageError } from "../framework/command-error.ts";
import { type Data, withData } from "../store/open-store.ts";
import { bindToBuckets, formatGrants, grantOption, grantsJson, parseGrants } from "./key/settings.ts";

const createCommand: Command = {
  name: "create",
  summary: "Create a role that trusted callers can assume",
  details:
    "--trust-account trusts access keys of the account that have full access; --trust-key trusts one access key.\n" +
    "--trust-oidc trusts ID tokens of an OpenID provider with one of the audiences and all of the claims.",
  usage: [
    "<name> [--grant BUCKET:RIGHTS]... [--trust-account NAME]... [--trust-key ID]... [--trust-oidc ISSUER]...",
  ],
  options: {
    grant: { ...grantOption, summary: "permissions of the role, as for store key create" },
    account: { value: "NAME", summary: 'account of the role and of buckets it creates; default: "default"' },
    "trust-account": { value: "NAME", summary: "account whose keys may assume the role", repeatable: true },
    "trust-key": { value: "ID", summary: "access key that may assume the role", repeatable: true },
    "trust-oidc": { value: "ISSUER", summary: "URL of an OpenID provider", repeatable: true },
    audience: { value: "TEXT", summary: "accepted audience of ID tokens", repeatable: true },
    claim: {
      value: "NAME=VALUE",
      summary: "claim that ID tokens must have; a value that ends with * is a prefix",
      repeatable: true,
    },
    "max-duration": { value: "TIME", summary: "longest lifetime of credentials, 15m to 12h; default: 1h" },
  },
  examples: [
    "store role create backup --grant backups:read,append,list --trust-account default",
    "store role create deploy --grant site:read,write,list --trust-oidc https://token.actions.githubusercontent.com --audience store --claim sub=repo:example/site:*",
  ],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [name = ""] = parameters;
    const given = parseGrants(options.texts("grant"));
    const account = options.text("account") ?? defaultAccount;
    const providers = parseProviders(invocation);
    const trust = { accounts: options.texts("trust-account"), keys: options.texts("trust-key"), providers };
    const duration = options.text("max-duration");
    const maxDurationSeconds =
      duration === undefined ? roleSeconds.default : parseOrUsageError(() => parseDuration(duration)) / 1000;
    const role = await withData(invocation, { absent: "refuse" }, async (data) => {
      const created = await withUsageErrors(async () => {
        for (const one of [account, ...trust.accounts]) checkAccount(one);
        for (const { bucket } of given) checkGrantBucket(bucket);
        const grants = await bindToBuckets(data, given);
        return openRoles(data).create(name, { account, grants, maxDurationSeconds, trust });
      });
      await data.recordAudit("create role", `role:${name}`);
      return created;
    });
    if (output.isJson) return output.json(roleJson(role));
    await printRole(invocation, role);
    for (const { issuer, claims } of providers) {
      if (Object.keys(claims).length > 0) continue;
      output.note(`Every user of ${issuer} with this audience can assume the role; limit it with --claim.`);
    }
  },
};

const listCommand: Command = {
  name: "list",
  summary: "List all roles",
  usage: [""],
  options: {},
  examples: ["store role list"],
  async run(invocation) {
    const { output } = invocation;
    const roles = await withData(invocation, { absent: "refuse" }, (data) => openRoles(data).list());
    if (output.isJson) return output.json(roles.map(roleJson));
    if (roles.length === 0) output.note("There are no roles yet. Create one: store role create <name>");
    await output.table(
      ["NAME", "ACCOUNT", "TRUSTS", "MAX DURATION", "GRANTS"].map((name) => ({ name })),
      roles.map((role) => [
        ...[role.name, role.account, formatTrust(role)],
        ...[`${role.maxDurationSeconds} s`, formatGrants(role.grants)],
      ]),
    );
  },
};

const showCommand: Command = {
  name: "show",
  summary: "Show a role",
  usage: ["<name>"],
  options: {},
  examples: ["store role show backup"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    const role = await withData(invocation, { absent: "refuse" }, (data) => openRoles(data).find(name));
    if (role === undefined) throw noSuchRole(name);
    if (output.isJson) await output.json(roleJson(role));
    else await printRole(invocation, role);
  },
};

const deleteCommand: Command = {
  name: "delete",
  summary: "Delete a role; its credentials end at once",
  usage: ["<name>"],
  options: {},
  examples: ["store role delete backup"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    const isDeleted = await withData(invocation, { absent: "refuse" }, async (data) => {
      const isDone = await openRoles(data).delete(name);
      if (isDone) await data.recordAudit("delete role", `role:${name}`);
      return isDone;
    });
    if (!isDeleted) throw noSuchRole(name);
    if (output.isJson) await output.json({ name, deleted: true });
    else await output.line(`Deleted role ${output.name(name)}.`);
  },
};

export const roleCommands: CommandGroup = {
  name: "role",
  summary: "Create, list and delete roles for temporary credentials",
  commands: [createCommand, listCommand, showCommand, deleteCommand],
};

function openRoles({ documents, secretKey }: Data): Roles {
  return createRoles(documents, secretKey, Date.now);
}

function parseProviders({ options }: Invocation): TrustedProvider[] {
  const [issuers, audiences, claimTexts] = [
    options.texts("trust-oidc"),
    options.texts("audience"),
    options.texts("claim"),
  ];
  if (issuers.length === 0 && audiences.length + claimTexts.length > 0)
    throw usageError("--audience and --claim need --trust-oidc.");
  const claims = Object.fromEntries(
    claimTexts.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw usageError(`--claim needs NAME=VALUE, not "${text}".`);
      return [text.slice(0, at), text.slice(at + 1)] as const;
    }),
  );
  return issuers.map((issuer) => {
    const flaw = issuerFlaw(issuer);
    if (flaw !== undefined) throw usageError(`The issuer "${issuer}" ${flaw}.`);
    return { issuer, audiences, claims };
  });
}

async function withUsageErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof RoleError || error instanceof CredentialError ? usageError(error.message) : error;
  }
}

function printRole({ output }: Invocation, role: Role): Promise<void> {
  return output.fields([
    ["name", role.name],
    ["arn", roleArn(role)],
    ["account", role.account],
    ["grants", formatGrants(role.grants)],
    ["trusts", formatTrust(role)],
    ["max duration", `${role.maxDurationSeconds} s`],
    ["created", output.time(role.created)],
  ]);
}

function formatTrust({ trust }: Role): string {
  const providers = trust.providers.map(({ issuer, audiences, claims }) => {
    const conditions = Object.entries(claims).map(([name, value]) => `${name}=${value}`);
    return [issuer, ...audiences.map((one) => `aud=${one}`), ...conditions].join(" ");
  });
  const accounts = trust.accounts.map((one) => `account ${one}`);
  return [...accounts, ...trust.keys.map((one) => `key ${one}`), ...providers].join(", ");
}

function roleArn({ name, account }: Role): string {
  return `arn:aws:iam::${account}:role/${name}`;
}

function roleJson(role: Role) {
  const { name, account, grants, trust, maxDurationSeconds, created } = role;
  return {
    ...{ name, arn: roleArn(role), account, grants: grantsJson(grants), trust, maxDurationSeconds },
    created: new Date(created).toISOString(),
  };
}

function noSuchRole(name: string): CommandError {
  return new CommandError(`There is no role "${name}".`, { hint: "List roles: store role list" });
}
