// `store console …`: the tokens that sign in to the console. A token is shown once, when it is made.
import { createTokens, type TokenInfo } from "../../console/auth/tokens.ts";
import { parseDuration } from "../../s3/auth/grants.ts";
import type { Command, CommandGroup } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { type Data, withData } from "../store/open-store.ts";

const maxNameLength = 60;

const tokenCommand: Command = {
  name: "token",
  summary: "Make a token that signs in to the console as an administrator",
  details: "Whoever holds it may do everything in the console. It is shown now and never again.",
  usage: ["[--name NAME] [--expires TIME]"],
  options: {
    name: { value: "NAME", summary: "whose it is or what it is for; administrator unless given" },
    expires: { value: "TIME", summary: "from now, such as 12h or 30d; never unless given" },
  },
  examples: ["store console token", "store console token --name anna --expires 30d"],
  async run(invocation) {
    const { options, output } = invocation;
    const name = options.text("name") ?? "administrator";
    if (name.trim() === "" || name.length > maxNameLength || /\p{Cc}/u.test(name)) {
      throw usageError(`--name must have 1 to ${maxNameLength} characters, in one line.`);
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
    output.note("Keep the token: it is not shown again.");
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
    if (tokens.length === 0) output.note("There are no tokens yet. Make one: store console token");
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
  summary: "Revoke a token of the console, and sign out whoever signed in with it",
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
      throw new CommandError(`There is no token of the console with the id "${id}".`, {
        hint: "See which there are: store console list",
      });
    }
    if (output.isJson) await output.json({ id, revoked: true });
    else await output.line(`Revoked the token ${output.name(id)}.`);
  },
};

export const consoleCommands: CommandGroup = {
  name: "console",
  summary: "Make, list and revoke tokens that sign in to the console",
  commands: [tokenCommand, listCommand, revokeCommand],
};

function openTokens({ documents }: Data) {
  return createTokens(documents, Date.now);
}

function parseLifetime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return parseDuration(text);
  } catch (error) {
    throw error instanceof RangeError ? usageError(error.message) : error;
  }
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
