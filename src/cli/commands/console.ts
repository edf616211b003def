// `store console …`: manages sign-in tokens of the console. A token is shown only at its creation.

import { parseDuration } from "../../access/grants.ts";
import { createTokens, type TokenInfo } from "../../console/auth/tokens.ts";
import type { Command, CommandGroup } from "../framework/command.ts";
import { CommandError, parseOrUsageError, usageError } from "../framework/command-error.ts";
import { type Data, withData } from "../store/open-store.ts";

const maxNameLength = 60;

const tokenCommand: Command = {
  name: "token",
  summary: "Create a token that signs in to the console as an administrator",
  details: "The token gives full access to the console. It is shown only once.",
  usage: ["[--name NAME] [--expires TIME]"],
  options: {
    name: { value: "NAME", summary: "owner or purpose of the token; default: administrator" },
    expires: { value: "TIME", summary: "lifetime, such as 12h or 30d; default: no expiry" },
  },
  examples: ["store console token", "store console token --name anna --expires 30d"],
  async run(invocation) {
    const { options, output } = invocation;
    const name = options.text("name") ?? "administrator";
    if (name.trim() === "" || name.length > maxNameLength || /\p{Cc}/u.test(name)) {
      throw usageError(`--name must have 1 to ${maxNameLength} characters on one line.`);
    }
    const lifetime = parseLifetime(options.text("expires"));
    const { info, token } = await withData(invocation, { absent: "create" }, async (data) => {
      const expires = lifetime === undefined ? undefined : Date.now() + lifetime;
      const made = await openTokens(data).create({ name, expires });
      await data.recordAudit("create token", made.info.id);
      return made;
    });
    if (output.isJson) return output.json({ ...tokenJson(info), token });
    await output.fields([
      ["token", token],
      ["id", info.id],
      ["name", info.name],
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
      ["ID", "NAME", "STATE", "CREATED", "EXPIRES"].map((name) => ({ name })),
      tokens.map(({ id, name, state, created, expires }) => [
        id,
        name,
        state,
        output.time(created),
        expires === undefined ? "never" : output.time(expires),
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
  summary: "Create, list and revoke sign-in tokens of the console",
  commands: [tokenCommand, listCommand, revokeCommand],
};

function openTokens({ documents }: Data) {
  return createTokens(documents, Date.now);
}

function parseLifetime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return parseOrUsageError(() => parseDuration(text));
}

function tokenJson({ id, name, created, expires, state }: TokenInfo) {
  return {
    id,
    name,
    created: new Date(created).toISOString(),
    expires: expires === undefined ? null : new Date(expires).toISOString(),
    state,
  };
}
