// Routes for signing in and out, and for the current user.
import type { HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import { type OpenedSession, type Session, type Sessions, sessionMilliseconds } from "../auth/sessions.ts";
import type { Attempts } from "../auth/sign-in-throttle.ts";
import { parseTokenId } from "../auth/tokens.ts";
import { ConsoleError, json, noContent } from "../response.ts";
import type { Call, OpenRoute, Route } from "../route.ts";
import type { SessionDocument } from "../wire-session.ts";

const path = "/api/session";

/** The name contains the port, because browsers share cookies between the ports of a host. */
export function cookieName(request: HttpRequest): string {
  // With the prefix `__Host-`, browsers accept the cookie only over HTTPS and only from this host.
  return `__Host-store-console-${/:(\d+)$/.exec(request.header("host") ?? "")?.[1] ?? "web"}`;
}

export function readSessionId(request: HttpRequest): string | undefined {
  return readCookie(request, cookieName(request));
}

export function readCookie(request: HttpRequest, name: string): string | undefined {
  for (const pair of (request.header("cookie") ?? "").split(/;\s*/)) {
    if (pair.startsWith(`${name}=`)) return pair.slice(name.length + 1);
  }
  return undefined;
}

export function signInRoute(sessions: Sessions, attempts: Attempts): OpenRoute {
  return {
    method: "POST",
    path,
    maxJsonBytes: 4096,
    async run({ request, fields }) {
      const given = await fields();
      const token = given.text("token").trim();
      const id = parseTokenId(token);
      requireAttempt(attempts, request, id);
      const opened = await sessions.open(token, request.address());
      if (opened === undefined) {
        attempts.failed(request.address(), id);
        throw new ConsoleError(401, "This token is invalid, expired or revoked.", {
          hint: "Create a new one on the server: store console token",
        });
      }
      if (given.flag("byLink")) await requireSameUser(sessions, request, opened);
      return signInResponse(sessions, request, opened);
    },
  };
}

/** A link may come from anyone: what its visitor then stores would be in the sender's account. */
async function requireSameUser(
  sessions: Pick<Sessions, "find" | "close">,
  request: HttpRequest,
  { id, session }: OpenedSession,
): Promise<void> {
  const current = readSessionId(request);
  const signedIn = current === undefined ? undefined : await sessions.find(current);
  if (signedIn === undefined || signedIn.owner === session.owner) return;
  await sessions.close(id);
  throw new ConsoleError(409, `You are signed in as "${signedIn.name}".`, {
    hint: `This link signs you in as "${session.name}". Use it only if you know who made it.`,
  });
}

/** Throws if the client has failed too often. */
export function requireAttempt(attempts: Attempts, request: HttpRequest, id: string | undefined): void {
  const wait = attempts.waitFor(request.address(), id);
  if (wait === 0) return;
  throw new ConsoleError(429, "Too many failed sign-in attempts.", {
    hint: `Try again in ${wait} seconds.`,
    headers: [["retry-after", String(wait)]],
  });
}

/** Ends the session that the browser had: nobody could sign out of it after its cookie is replaced. */
export async function signInResponse(
  sessions: Pick<Sessions, "close">,
  request: HttpRequest,
  { id, session }: OpenedSession,
): Promise<HttpResponse> {
  const replaced = readSessionId(request);
  if (replaced !== undefined) await sessions.close(replaced);
  const { headers, ...response } = json(toSessionDocument(session));
  const cookie = `${cookieName(request)}=${id}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=${sessionMilliseconds / 1000}`;
  return { ...response, headers: [...headers, ["set-cookie", cookie]] };
}

export function sessionRoutes(sessions: Sessions): readonly Route[] {
  return [
    {
      method: "GET",
      path,
      needs: { on: "nothing" },
      run: ({ session }: Call) => json(toSessionDocument(session)),
    },
    {
      method: "DELETE",
      path,
      needs: { on: "nothing" },
      async run({ request }: Call) {
        await sessions.close(readSessionId(request)!);
        const cookie = `${cookieName(request)}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`;
        return noContent([["set-cookie", cookie]]);
      },
    },
  ];
}

function toSessionDocument({ name, expires, permissions }: Session): SessionDocument {
  const { role = null, buckets = {} } = permissions;
  return { name, expires, role, buckets };
}
