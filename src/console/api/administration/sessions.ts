// Routes for the sessions of the console. Administrators see and end all of them, other users their
// own.
import { allows } from "../../auth/roles.ts";
import type { Session, Sessions } from "../../auth/sessions.ts";
import { ConsoleError, json, noContent } from "../../response.ts";
import type { Route } from "../../route.ts";
import type { SessionRow, SessionsDocument } from "../../wire-session.ts";

const path = "/api/sessions";

export function sessionListRoutes(sessions: Sessions): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      needs: { on: "nothing" },
      async run({ session }) {
        const all = (await sessions.list()).filter((one) => maySee(session, one));
        return json({ sessions: all.map((one) => toRow(one, session)) } satisfies SessionsDocument);
      },
    },
    {
      method: "DELETE",
      path,
      needs: { on: "nothing" },
      async run({ query, session }) {
        const id = query.text("id");
        const found = await sessions.describe(id);
        // The same answer for sessions of others, so that nobody learns about them.
        if (found === undefined || !maySee(session, found) || !(await sessions.end(id)))
          throw new ConsoleError(404, "This session has already ended.");
        return noContent();
      },
    },
  ];
}

function maySee(viewer: Session, { owner }: Session): boolean {
  return owner === viewer.owner || allows(viewer.permissions, "administer");
}

function toRow(session: Session, { publicId: current }: Session): SessionRow {
  const { publicId: id, name, permissions, created = null, expires, address = null } = session;
  const { role = null, buckets = {} } = permissions;
  return {
    ...{ id, name, role, buckets, created, expires, address, isCurrent: id === current },
    provider: session.provider ?? null,
  };
}
