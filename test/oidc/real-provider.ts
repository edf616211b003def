// The package oidc-provider on a free loopback port, and a user who signs in there without a browser.
import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface RealProvider {
  readonly issuer: string;
}

export const clientId = "store-console";
export const clientSecret = "a secret: with % and +";

interface ProviderModule {
  readonly default: new (issuer: string, configuration: object) => { callback(): RequestListener };
}

/** The part of the test's context that both node:test and a plain program can provide. */
type Cleanup = Pick<TestContext, "after">;

/** `groups` by account; every account can sign in. */
export async function startRealProvider(
  t: Cleanup,
  groups: Readonly<Record<string, readonly string[]>>,
  { claimsIn = "user info" }: { readonly claimsIn?: "user info" | "ID token" } = {},
): Promise<RealProvider> {
  let listener: RequestListener = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // The package has no types of its own.
  const name: string = "oidc-provider";
  const { warn } = console;
  // It warns about Node 20 and about settings that only matter in production.
  console.warn = () => {};
  const { default: Provider } = (await import(name)) as ProviderModule;
  const claims = { email: ["email"], profile: ["preferred_username"], groups: ["groups"] };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        // A native client may use any port of the loopback address.
        application_type: "native",
        redirect_uris: ["http://127.0.0.1/signed-in", "http://localhost/signed-in"],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    claims: { openid: ["sub"], ...claims },
    conformIdTokenClaims: claimsIn === "user info",
    // Set, because the package warns about defaults.
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    cookies: { keys: ["of this test"] },
    pkce: { required: () => true },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, groups: groups[id] ?? [] }),
    }),
  });
  console.warn = warn;
  listener = provider.callback();
  return { issuer };
}

/** Signs in at the provider like a browser; returns the URL to which the provider sends it back. */
export async function signInAt(url: string, account: string): Promise<URL> {
  const { origin } = new URL(url);
  const cookies = new Map<string, string>();
  let next = url;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 20; step++) {
    if (new URL(next).origin !== origin) return new URL(next);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(next, {
      method: form === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: { cookie },
      ...(form === undefined ? {} : { body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    form = undefined;
    const text = await response.text();
    const location = response.headers.get("location");
    if (location !== null) {
      next = new URL(location, next).href;
      continue;
    }
    assert.equal(response.status, 200, text);
    const [, action = ""] = /action="([^"]+)"/.exec(text) ?? [];
    const [, prompt = ""] = /name="prompt" value="([^"]+)"/.exec(text) ?? [];
    next = new URL(action, next).href;
    form = new URLSearchParams({ prompt, login: account, password: "any" });
  }
  throw new Error("The provider did not send the browser back.");
}
