// Routes for the users of the console: list with their tokens, create, change roles, delete.
import { allows } from "../../auth/roles.ts";
import type { ConsoleTokens, TokenInfo } from "../../auth/tokens.ts";
import { type ConsoleUser, type ConsoleUsers, checkUserName } from "../../auth/users.ts";
import { ConsoleError, json, noContent } from "../../response.ts";
import type { Fields, Route } from "../../route.ts";
import type { TokenDocument, UserDocument, UsersDocument } from "../../wire-administration.ts";
import { maxPermissionBytes, parsePermissions, withConsoleError } from "./permission-fields.ts";

const path = "/api/users";
/** A user can be given any role, so all of it is for administrators of the whole store. */
const needs = { right: "administer", on: "store" } as const;

export function userRoutes(users: ConsoleUsers, tokens: ConsoleTokens): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      needs,
      async run() {
        const all = { users: (await users.list()).map(toUserDocument), tokens: await tokens.list() };
        return json({ ...all, tokens: all.tokens.map(toTokenDocument) } satisfies UsersDocument);
      },
    },
    {
      method: "POST",
      path,
      needs,
      maxJsonBytes: maxPermissionBytes,
      async run({ fields }) {
        const given = await fields();
        const name = given.text("name");
        withConsoleError(() => checkUserName(name));
        const isCreated = await users.create(name, requirePermissions(given));
        if (isCreated) return noContent();
        throw new ConsoleError(409, `User "${name}" already exists; nothing was changed.`);
      },
    },
    {
      method: "PUT",
      path,
      needs,
      maxJsonBytes: maxPermissionBytes,
      async run({ fields, session }) {
        const given = await fields();
        const name = given.text("name");
        const permissions = requirePermissions(given);
        if (session.owner === ownerName(name) && !allows(permissions, "administer")) throw ownRoleError();
        if (await users.change(name, permissions)) return noContent();
        throw noSuchUser(name);
      },
    },
    {
      method: "DELETE",
      path,
      needs,
      async run({ query, session }) {
        const name = query.text("name");
        if (session.owner === ownerName(name)) throw ownRoleError();
        if ((await users.find(name)) === undefined) throw noSuchUser(name);
        // The tokens go first: after an interruption, the request can be repeated.
        await tokens.revokeOf(name);
        await users.delete(name);
        return noContent();
      },
    },
  ];
}

function requirePermissions(given: Fields) {
  const permissions = parsePermissions(given);
  if (permissions !== undefined) return permissions;
  throw new ConsoleError(400, "A user needs a role, on the whole store or on a bucket.");
}

/** As the session of a user's token names its owner. */
function ownerName(user: string): string {
  return `user ${user}`;
}

function ownRoleError(): ConsoleError {
  return new ConsoleError(409, "You cannot delete yourself or give up your own administrator role.", {
    hint: "Ask another administrator, or use the command line: store user",
  });
}

function noSuchUser(name: string): ConsoleError {
  return new ConsoleError(404, `User "${name}" no longer exists.`, {
    hint: "Reload the page to see the current users.",
  });
}

function toUserDocument({ name, created, permissions }: ConsoleUser): UserDocument {
  const { role = null, buckets = {} } = permissions;
  return { name, created, role, buckets };
}

function toTokenDocument(token: TokenInfo): TokenDocument {
  const { id, name, user = null, created, expires = null, state, lastUsed = null } = token;
  const { role = null, buckets = {} } = token.permissions;
  return { id, name, user, role, buckets, created, expires, state, lastUsed };
}
