// Routes for sign-in tokens of the console: create, which is the only time a token is shown, and
// revoke.
import { fullPermissions } from "../../auth/roles.ts";
import { type ConsoleTokens, isTokenName, tokenNameRule } from "../../auth/tokens.ts";
import type { ConsoleUsers } from "../../auth/users.ts";
import { ConsoleError, json, noContent } from "../../response.ts";
import type { Fields, Route } from "../../route.ts";
import type { NewTokenDocument } from "../../wire-administration.ts";
import { maxPermissionBytes, parsePermissions } from "./permission-fields.ts";

const path = "/api/tokens";
/** A token can have any role, so all of it is for administrators of the whole store. */
const needs = { right: "administer", on: "store" } as const;
const maxDays = 36_500;
const dayMilliseconds = 86_400_000;

export function tokenRoutes(users: ConsoleUsers, tokens: ConsoleTokens, now: () => number): readonly Route[] {
  return [
    {
      method: "POST",
      path,
      needs,
      maxJsonBytes: maxPermissionBytes,
      async run({ fields }) {
        const given = await fields();
        const name = given.text("name").trim();
        if (!isTokenName(name)) throw new ConsoleError(400, `The name must have ${tokenNameRule}.`);
        const user = given.optionalText("user");
        const permissions = parsePermissions(given);
        if (user !== undefined && permissions !== undefined)
          throw new ConsoleError(400, "A token of a user has the roles of the user, and none of its own.");
        if (user !== undefined && (await users.find(user)) === undefined)
          throw new ConsoleError(404, `User "${user}" no longer exists.`);
        if (user === undefined && permissions === undefined)
          throw new ConsoleError(400, "A token needs a user or a role.");
        const made = await tokens.create({
          ...{ name, user, expires: parseExpiry(given, now()) },
          ...(user === undefined ? { permissions: permissions ?? fullPermissions } : {}),
        });
        return json({ id: made.info.id, token: made.token } satisfies NewTokenDocument, 201);
      },
    },
    {
      method: "DELETE",
      path,
      needs,
      async run({ query }) {
        if (await tokens.revoke(query.text("id"))) return noContent();
        throw new ConsoleError(404, "This token no longer exists.", {
          hint: "Reload the page to see the current tokens.",
        });
      },
    },
  ];
}

/** Undefined: the token does not expire. */
function parseExpiry(given: Fields, now: number): number | undefined {
  const text = given.optionalText("days");
  if (text === undefined) return undefined;
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= maxDays) return now + days * dayMilliseconds;
  throw new ConsoleError(400, `"days" must be a whole number from 1 to ${maxDays}.`);
}
