// `store console …`: manages sign-in tokens of the console. A token is shown only at its creation.

import { parseDuration } from "../../access/grants.ts";
import { formatPermissions } from "../../console/auth/roles.ts";
import { createTokens, isTokenName, type TokenInfo, tokenNameRule } from "../../console/auth/tokens.ts";
import type { Command, CommandGroup } from "../framework/command.ts";
import { CommandError, parseOrUsageError, usageError } from "../framework/command-error.ts";
import { type Data, withData } from "../store/open-store.ts";
import { permissionsJson, readPermissions, roleOptions } from "../store/role-options.ts";
import { requireUser } from "./administration/user.ts";
import { localUsers } from "./administration/user-store.ts";
import { sessionsCommand } from "./console-sessions.ts";

const tokenCommand: Command = {
  name: "token",
  summary: "Create a token that signs in to the console",
  details:
    "The token has the roles of --user, or those of --role and --bucket. Without these options it gives\n" +
    "full access to the console. It is shown only once.",
  usage: ["[--name NAME] [--user USER] [--role ROLE] [--bucket BUCKET:ROLE]... [--expires TIME]"],
  options: {
    name: { value: "NAME", summary: "owner or purpose of the token; default: the user, or administrator" },
    user: { value: "USER", summary: "user to whom the token belongs" },
    ...roleOptions,
    expires: { value: "TIME", summary: "lifetime, such as 12h or 30d; default: no expiry" },
  },
  examples: [
    "store console token",
    "store console token --user anna --expires 30d",
    "store console token --name wall-screen --role viewer --bucket photos:editor",
  ],
  async run(invocation) {
    const { options, output } = invocation;
    const user = options.text("user");
    const permissions = readPermissions(invocation);
    if (user !== undefined && permissions !== undefined) {
      throw usageError(
        "A token of a user has the roles of the user; remove --role and --bucket.",
        `Change the roles of the user: store user change ${user} --role ROLE`,
      );
    }
    const name = options.text("name") ?? user ?? (permissions === undefined ? "administrator" : "token");
    if (!isTokenName(name)) throw usageError(`--name must have ${tokenNameRule}.`);
    const lifetime = parseLifetime(options.text("expires"));
    const { info, token } = await withData(invocation, { absent: "create" }, async (data) => {
      const expires = lifetime === undefined ? undefined : Date.now() + lifetime;
      if (user !== undefined) await requireUser(localUsers(data), user);
      const made = await openTokens(data).create({ name, expires, user, permissions });
      await data.recordAudit("create token", made.info.id);
      return made;
    });
    if (output.isJson) return output.json({ ...tokenJson(info), token });
    await output.fields([
      ["token", token],
      ["id", info.id],
      ["name", info.name],
      ["roles", rolesText(info)],
      ["expires", info.expires === undefined ? "never" : output.time(info.expires)],
    ]);
    output.note("Save the token now: it is not shown again.");
  },
};

const listCommand: Command = {
  name: "list",
  summary: "List the console's tokens, without their secrets",
  usage: [""],
  options: {},
  examples: ["store console list"],
  async run(invocation) {
    const { output } = invocation;
    const tokens = await withData(invocation, { absent: "refuse" }, (data) => openTokens(data).list());
    if (output.isJson) return output.json(tokens.map(tokenJson));
    if (tokens.length === 0) output.note("There are no tokens yet. Create one: store console token");
    await output.table(
      ["ID", "NAME", "ROLES", "STATE", "CREATED", "EXPIRES", "LAST USED"].map((name) => ({ name })),
      tokens.map((token) => [
        token.id,
        token.name,
        rolesText(token),
        token.state,
        output.time(token.created),
        token.expires === undefined ? "never" : output.time(token.expires),
        token.lastUsed === undefined ? "never" : output.time(token.lastUsed),
      ]),
    );
  },
};

const revokeCommand: Command = {
  name: "revoke",
  summary: "Revoke a token of the console and end its sessions",
  usage: ["<id>"],
  options: {},
  examples: ["store console revoke abcdefghij"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [id = ""] = parameters;
    const isRevoked = await withData(invocation, { absent: "refuse" }, async (data) => {
      const isDone = await openTokens(data).revoke(id);
      if (isDone) await data.recordAudit("revoke token", id);
      return isDone;
    });
    if (!isRevoked) {
      throw new CommandError(`There is no console token with the id "${id}".`, {
        hint: "List tokens: store console list",
      });
    }
    if (output.isJson) await output.json({ id, revoked: true });
    else await output.line(`Revoked the token ${output.name(id)}.`);
  },
};

export const consoleCommands: CommandGroup = {
  name: "console",
  summary: "Create, list and revoke sign-in tokens of the console; list and end sessions",
  commands: [tokenCommand, listCommand, revokeCommand, sessionsCommand],
};

function openTokens({ documents }: Data) {
  return createTokens(documents, Date.now);
}

function parseLifetime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return parseOrUsageError(() => parseDuration(text));
}

function rolesText({ user, permissions }: TokenInfo): string {
  return user === undefined ? formatPermissions(permissions) : `of user ${user}`;
}

function tokenJson({ id, name, created, expires, state, user, permissions, lastUsed }: TokenInfo) {
  return {
    id,
    name,
    ...(user === undefined ? permissionsJson(permissions) : { user }),
    created: new Date(created).toISOString(),
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    state,
    lastUsed: lastUsed === undefined ? null : new Date(lastUsed).toISOString(),
  };
}
