// Sign-in with an OpenID provider: the authorization code flow with PKCE, state and nonce.
import { createDiscovery, type ProviderMetadata } from "./discovery.ts";
import { fetchJson, type ProviderResponse, requestJson } from "./fetch-json.ts";
import { OidcError } from "./oidc-error.ts";
import { type Claims, createOidcVerifier } from "./verifier.ts";

export interface CodeFlowOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined;
  /** In addition to `openid`. */
  readonly scopes: readonly string[];
  /** Claims that are read from the provider's user info if the ID token does not have them. */
  readonly wantedClaims: readonly string[];
  readonly now: () => number;
}

/** Random values of one sign-in. The caller stores them between `begin` and `finish`. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly redirectUrl: string;
}

export interface AuthorizationResponse {
  readonly code: string;
  /** The parameter `iss`, if the provider sent it. */
  readonly issuer: string | undefined;
}

export interface CodeFlow {
  /** Returns the URL at the provider to which the browser goes. */
  begin(redirectUrl: string): Promise<{ readonly url: string; readonly pending: PendingSignIn }>;
  /** The caller has compared the state. Throws OidcError. */
  finish(response: AuthorizationResponse, pending: PendingSignIn): Promise<Claims>;
}

export function createCodeFlow(options: CodeFlowOptions): CodeFlow {
  const { issuer, clientId, scopes, wantedClaims, now } = options;
  const discovery = createDiscovery(issuer, now);
  const verifier = createOidcVerifier({
    ...{ issuer, audience: clientId, authorizedParty: clientId, now, discovery },
  });
  return {
    async begin(redirectUrl) {
      const { authorizationUrl } = await discovery.get();
      const url = new URL(required(authorizationUrl, "authorization_endpoint"));
      const pending = { state: random(), nonce: random(), codeVerifier: random(), redirectUrl };
      const parameters = {
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUrl,
        scope: [...new Set(["openid", ...scopes])].join(" "),
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await challengeFor(pending.codeVerifier),
        code_challenge_method: "S256",
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { url: url.href, pending };
    },
    async finish({ code, issuer: named }, pending) {
      const metadata = await discovery.get();
      // Without this check, a second provider could pass on the code of this one (RFC 9207).
      if (named === undefined ? metadata.namesIssuer : named !== issuer)
        throw new OidcError("token", "The answer to the sign-in comes from another issuer.");
      const tokens = await exchangeCode(metadata, options, { code, pending });
      const claims = await verifier.verify(tokens.idToken, { nonce: pending.nonce });
      if (wantedClaims.every((name) => claims.all[name] !== undefined)) return claims;
      return withUserInfo(claims, metadata, tokens.accessToken);
    },
  };
}

async function exchangeCode(
  { tokenUrl, secretMethods }: ProviderMetadata,
  { clientId, clientSecret }: CodeFlowOptions,
  { code, pending }: { readonly code: string; readonly pending: PendingSignIn },
): Promise<{ readonly idToken: string; readonly accessToken: string | undefined }> {
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: pending.redirectUrl,
    code_verifier: pending.codeVerifier,
    client_id: clientId,
  });
  const headers: Record<string, string> = {};
  const isPosted =
    !secretMethods.includes("client_secret_basic") && secretMethods.includes("client_secret_post");
  if (clientSecret !== undefined && isPosted) form.set("client_secret", clientSecret);
  else if (clientSecret !== undefined) headers.authorization = basicCredentials(clientId, clientSecret);
  const url = required(tokenUrl, "token_endpoint");
  const response = await requestJson({ url, what: "token endpoint", form, headers });
  if (response.status !== 200) throw refusal(response);
  const { id_token: idToken, access_token: accessToken } = response.fields;
  if (typeof idToken !== "string") throw new OidcError("provider", "The provider returned no ID token.");
  return { idToken, accessToken: typeof accessToken === "string" ? accessToken : undefined };
}

/** A wrong client secret is a fault of the configuration; other refusals concern the code. */
function refusal({ status, fields }: ProviderResponse): OidcError {
  const error = typeof fields.error === "string" ? fields.error : `status ${status}`;
  const isConfiguration = error === "invalid_client" || error === "unauthorized_client" || status >= 500;
  const text = error.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 100);
  return new OidcError(isConfiguration ? "provider" : "token", `The provider refused the sign-in: ${text}.`);
}

async function withUserInfo(
  claims: Claims,
  { userInfoUrl }: ProviderMetadata,
  accessToken: string | undefined,
): Promise<Claims> {
  if (userInfoUrl === undefined || accessToken === undefined) return claims;
  const headers = { authorization: `Bearer ${accessToken}` };
  const fields = await fetchJson({ url: userInfoUrl, what: "user info", headers });
  if (fields.sub !== claims.subject)
    throw new OidcError("token", "The provider's user info is about another user.");
  return { ...claims, all: { ...fields, ...claims.all } };
}

function required(url: string | undefined, name: string): string {
  if (url !== undefined) return url;
  throw new OidcError("provider", `The provider's configuration has no ${name}; it does not sign users in.`);
}

/** 256 random bits. */
function random(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

async function challengeFor(codeVerifier: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(codeVerifier))).toString("base64url");
}

/** RFC 6749 encodes both parts as in a form before base64. */
function basicCredentials(clientId: string, clientSecret: string): string {
  const encode = (text: string) => new URLSearchParams([["", text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString("base64")}`;
}
