// Routes for signing in with an OpenID provider. The provider sends the browser back to the page,
// whose script posts the answer, so that all cookies stay SameSite=Strict.
import type { HttpRequest } from "../../http/server/listen.ts";
import { OidcError } from "../../oidc/oidc-error.ts";
import { type Providers, signInMilliseconds } from "../auth/providers.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { Attempts } from "../auth/sign-in-throttle.ts";
import { ConsoleError, json } from "../response.ts";
import type { OpenRoute } from "../route.ts";
import type { ProvidersDocument, StartedDocument } from "../wire-session.ts";
import { cookieName, readCookie, requireAttempt, signInResponse } from "./session.ts";

export interface OidcRouteOptions {
  readonly providers: Providers;
  readonly sessions: Sessions;
  /** Counts all started and all failed sign-ins of a client, because each one is stored or checked. */
  readonly attempts: Attempts;
  /** Public URL of the console; undefined to use the one that the client sees. */
  readonly url: string | undefined;
  readonly log: (line: string) => void;
}

/** The page at this path reads the provider's answer. Register its URL at the provider. */
export const callbackPath = "/signed-in";
const path = "/api/sign-in";
/** Sign-ins of one client in a minute. Many users may share an address. */
export const maxSignIns = 60;

export function oidcRoutes(options: OidcRouteOptions): readonly OpenRoute[] {
  const { providers, sessions, attempts, log } = options;
  return [
    {
      method: "GET",
      path,
      run: () => json({ providers: providers.list } satisfies ProvidersDocument),
    },
    {
      method: "POST",
      path: `${path}/start`,
      maxJsonBytes: 4096,
      async run({ request, fields }) {
        const name = (await fields()).text("provider");
        requireAttempt(attempts, request, "start");
        attempts.failed(request.address(), "start");
        const redirectUrl = (options.url ?? requestOrigin(request)) + callbackPath;
        const started = await withProviderErrors(log, () =>
          providers.start(name, { redirectUrl, address: request.address() }),
        );
        if (started === undefined) throw new ConsoleError(404, "There is no such sign-in on this server.");
        const { headers, ...response } = json({ url: started.url } satisfies StartedDocument);
        const cookie = pendingCookie(request, started.id, signInMilliseconds / 1000);
        return { ...response, headers: [...headers, ["set-cookie", cookie]] };
      },
    },
    {
      method: "POST",
      path: `${path}/finish`,
      maxJsonBytes: 16 * 1024,
      async run({ request, fields }) {
        const given = await fields();
        const [state, code, issuer] = [given.text("state"), given.text("code"), given.optionalText("issuer")];
        requireAttempt(attempts, request, "finish");
        const id = readCookie(request, pendingName(request)) ?? "";
        const refuse = (message: string, hint?: string) => {
          attempts.failed(request.address(), "finish");
          const headers = [["set-cookie", pendingCookie(request, "", 0)]] as const;
          return new ConsoleError(401, message, { hint, headers });
        };
        const identity = await withProviderErrors(
          log,
          () => providers.finish({ id, state, code, issuer }),
          refuse,
        );
        if (identity === undefined)
          throw refuse("This sign-in has expired or was started in another browser.", "Sign in again.");
        const opened = await sessions.openFor(identity, request.address());
        if (opened === undefined) {
          throw refuse(
            `${identity.name} may not use this console: none of the user's groups has a role.`,
            "Ask an administrator for a role.",
          );
        }
        const response = await signInResponse(sessions, request, opened);
        return { ...response, headers: [...response.headers, ["set-cookie", pendingCookie(request, "", 0)]] };
      },
    },
  ];
}

export function requestOrigin(request: HttpRequest): string {
  // The handler has checked the host: it is an address, localhost or a configured name.
  return `${request.scheme}://${request.header("host") ?? ""}`;
}

function pendingName(request: HttpRequest): string {
  return `${cookieName(request)}-sign-in`;
}

function pendingCookie(request: HttpRequest, id: string, seconds: number): string {
  return `${pendingName(request)}=${id}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
}

/** A refused token is the user's error; an unreachable provider is logged for the administrator. */
async function withProviderErrors<T>(
  log: (line: string) => void,
  run: () => Promise<T>,
  refuse = (message: string) => new ConsoleError(502, message),
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof OidcError)) throw error;
    if (error.reason === "token") throw refuse(error.message);
    log(`Sign-in with the OpenID provider failed: ${error.message}`);
    throw new ConsoleError(502, error.message, { hint: "Try again later, or sign in with a token." });
  }
}
