// `store console sessions …`: lists sessions of the console and ends them.
import { formatPermissions, fullPermissions } from "../../console/auth/roles.ts";
import { createSessions, type Session } from "../../console/auth/sessions.ts";
import { createTokens } from "../../console/auth/tokens.ts";
import { createUsers } from "../../console/auth/users.ts";
import { findVerb } from "../framework/arguments.ts";
import type { Command, Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { type Data, withData } from "../store/open-store.ts";
import { permissionsJson } from "../store/role-options.ts";

export const sessionsCommand: Command = {
  name: "sessions",
  summary: "List the sessions of the console, or end one",
  usage: ["[list]", "end <id>"],
  options: {},
  examples: ["store console sessions", "store console sessions end 0123456789abcdef"],
  async run(invocation) {
    const [verb = "list", id, extra] = invocation.parameters;
    const run = findVerb({ list, end }, "console sessions", verb);
    const unexpected = verb === "list" ? id : extra;
    if (unexpected !== undefined)
      throw usageError(`store console sessions ${verb} does not expect "${unexpected}".`);
    if (verb === "end" && id === undefined) throw usageError("store console sessions end needs an id.");
    await run(invocation, id ?? "");
  },
};

async function list(invocation: Invocation): Promise<void> {
  const { output } = invocation;
  const sessions = await withData(invocation, { absent: "refuse" }, (data) => openSessions(data).list());
  if (output.isJson) return output.json(sessions.map(sessionJson));
  if (sessions.length === 0) output.note("Nobody is signed in.");
  await output.table(
    ["ID", "USER", "ROLES", "SIGNED IN", "EXPIRES", "ADDRESS"].map((name) => ({ name })),
    sessions.map((session) => [
      session.publicId,
      session.name,
      rolesText(session),
      session.created === undefined ? "unknown" : output.time(session.created),
      output.time(session.expires),
      session.address ?? "unknown",
    ]),
  );
}

async function end(invocation: Invocation, id: string): Promise<void> {
  const { output } = invocation;
  const isEnded = await withData(invocation, { absent: "refuse" }, async (data) => {
    const isDone = await openSessions(data).end(id);
    if (isDone) await data.recordAudit("end session", id);
    return isDone;
  });
  if (!isEnded) {
    throw new CommandError(`There is no session with the id "${id}".`, {
      hint: "List sessions: store console sessions",
    });
  }
  if (output.isJson) await output.json({ id, ended: true });
  else await output.line(`Ended the session ${output.name(id)}.`);
}

/** Includes sessions of providers, whose roles only the server knows. */
function openSessions({ documents }: Data) {
  return createSessions({
    documents,
    tokens: createTokens(documents, Date.now),
    users: createUsers(documents, Date.now),
    // The token of `store dev` is known only to that process, but its sessions are listed too.
    ownToken: "",
    groupPermissions: () => fullPermissions,
    now: Date.now,
  });
}

function rolesText({ provider, permissions }: Session): string {
  return provider === undefined ? formatPermissions(permissions) : `by groups of ${provider}`;
}

function sessionJson({ publicId, name, permissions, provider, created, expires, address }: Session) {
  return {
    id: publicId,
    name,
    ...(provider === undefined ? permissionsJson(permissions) : { provider }),
    created: created === undefined ? null : new Date(created).toISOString(),
    expires: new Date(expires).toISOString(),
    address: address ?? null,
  };
}
