// `store user …`: manages users of the console and their roles. Users sign in with tokens of their own.
import { formatPermissions } from "../../../console/auth/roles.ts";
import { type ConsoleUser, type ConsoleUsers, checkUserName } from "../../../console/auth/users.ts";
import type { Command, CommandGroup } from "../../framework/command.ts";
import { CommandError, parseOrUsageError, usageError } from "../../framework/command-error.ts";
import {
  changePermissions,
  permissionsJson,
  readPermissions,
  roleOptions,
} from "../../store/role-options.ts";
import { withUsers } from "./user-store.ts";

const createCommand: Command = {
  name: "create",
  summary: "Create a user of the console",
  details:
    "A viewer reads and lists, an editor also changes objects, an administrator does everything.\n" +
    "The user signs in with a token: store console token --user NAME",
  usage: ["<name> [--role ROLE] [--bucket BUCKET:ROLE]..."],
  options: roleOptions,
  examples: ["store user create anna --role administrator", "store user create bert --bucket photos:editor"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    parseOrUsageError(() => checkUserName(name));
    const permissions = readPermissions(invocation);
    if (permissions === undefined) throw usageError("Specify a role: --role ROLE or --bucket BUCKET:ROLE.");
    const user = await withUsers(invocation, "create", async (users) => {
      if (!(await users.create(name, permissions)))
        throw new CommandError(`User "${name}" already exists; nothing was changed.`, {
          hint: `Change the roles: store user change ${name} --role ROLE`,
        });
      return requireUser(users, name);
    });
    if (output.isJson) return output.json(userJson(user));
    await output.line(`Created user ${output.name(name)}: ${formatPermissions(user.permissions)}.`);
    output.note(`Create a token to sign in with: store console token --user ${name}`);
  },
};

const listCommand: Command = {
  name: "list",
  summary: "List the users of the console",
  usage: [""],
  options: {},
  examples: ["store user list"],
  async run(invocation) {
    const { output } = invocation;
    const users = await withUsers(invocation, "refuse", (found) => found.list());
    if (output.isJson) return output.json(users.map(userJson));
    if (users.length === 0) output.note("There are no users yet. Create one: store user create");
    await output.table(
      ["NAME", "ROLES", "CREATED"].map((name) => ({ name })),
      users.map(({ name, permissions, created }) => [
        name,
        formatPermissions(permissions),
        output.time(created),
      ]),
    );
  },
};

const showCommand: Command = {
  name: "show",
  summary: "Show a user with roles and tokens",
  usage: ["<name>"],
  options: {},
  examples: ["store user show anna"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    const { user, tokens } = await withUsers(invocation, "refuse", async (users) => ({
      user: await requireUser(users, name),
      tokens: (await users.tokens()).filter((token) => token.user === name),
    }));
    if (output.isJson)
      return output.json({
        ...userJson(user),
        tokens: tokens.map(({ id, name, state }) => ({ id, name, state })),
      });
    await output.fields([
      ["name", user.name],
      ["role", user.permissions.role ?? "none on the whole store"],
      ...Object.entries(user.permissions.buckets ?? {}).map(([b, role]): [string, string] => [
        `bucket ${b}`,
        role,
      ]),
      ["created", output.time(user.created)],
      ["tokens", tokens.map(({ id, name }) => `${id} (${name})`).join(", ") || "none"],
    ]);
  },
};

const changeCommand: Command = {
  name: "change",
  summary: "Change the roles of a user, also in open sessions",
  details: 'Roles that are not named stay. The role "none" removes a role.',
  usage: ["<name> [--role ROLE] [--bucket BUCKET:ROLE]..."],
  options: roleOptions,
  examples: ["store user change anna --role viewer", "store user change bert --bucket photos:none"],
  async run(invocation) {
    const { parameters, options, output } = invocation;
    const [name = ""] = parameters;
    if (options.text("role") === undefined && options.texts("bucket").length === 0)
      throw usageError("Specify what to change: --role ROLE or --bucket BUCKET:ROLE.");
    const user = await withUsers(invocation, "refuse", async (users) => {
      const { permissions } = await requireUser(users, name);
      await users.change(name, changePermissions(invocation, permissions));
      return requireUser(users, name);
    });
    if (output.isJson) await output.json(userJson(user));
    else await output.line(`User ${output.name(name)} is now: ${formatPermissions(user.permissions)}.`);
  },
};

const deleteCommand: Command = {
  name: "delete",
  summary: "Delete a user, revoke the user's tokens and end the user's sessions",
  usage: ["<name>"],
  options: {},
  examples: ["store user delete bert"],
  async run(invocation) {
    const { parameters, output } = invocation;
    const [name = ""] = parameters;
    await withUsers(invocation, "refuse", async (users) => {
      await requireUser(users, name);
      await users.delete(name);
    });
    if (output.isJson) await output.json({ name, deleted: true });
    else await output.line(`Deleted user ${output.name(name)}.`);
  },
};

export const userCommands: CommandGroup = {
  name: "user",
  summary: "Create, list, change and delete users of the console",
  commands: [createCommand, listCommand, showCommand, changeCommand, deleteCommand],
};

export async function requireUser(users: Pick<ConsoleUsers, "find">, name: string): Promise<ConsoleUser> {
  const user = await users.find(name);
  if (user !== undefined) return user;
  throw new CommandError(`There is no user "${name}".`, { hint: "List users: store user list" });
}

function userJson({ name, created, permissions }: ConsoleUser) {
  return { name, ...permissionsJson(permissions), created: new Date(created).toISOString() };
}
