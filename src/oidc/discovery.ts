// The configuration that a provider publishes (OpenID Connect Discovery), cached.
import { type CachedValue, createCachedValue } from "./cached-value.ts";
import { fetchJson } from "./fetch-json.ts";
import { OidcError } from "./oidc-error.ts";
import { issuerFlaw, providerUrlFlaw } from "./provider-url.ts";

export interface ProviderMetadata {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** The endpoints are optional: a provider of workload tokens has only keys. */
  readonly authorizationUrl: string | undefined;
  readonly tokenUrl: string | undefined;
  readonly userInfoUrl: string | undefined;
  /** Ways in which the token endpoint accepts the client secret. */
  readonly secretMethods: readonly string[];
  /** Whether every authorization response names the issuer (RFC 9207). */
  readonly namesIssuer: boolean;
}

const maxAgeMilliseconds = 3600_000;
const refreshMilliseconds = 60_000;

export function createDiscovery(issuer: string, now: () => number): CachedValue<ProviderMetadata> {
  const flaw = issuerFlaw(issuer);
  if (flaw !== undefined) throw new RangeError(`The issuer "${issuer}" ${flaw}.`);
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  return createCachedValue({
    load: async () => parseMetadata(issuer, await fetchJson({ url, what: "configuration" })),
    maxAgeMilliseconds,
    refreshMilliseconds,
    now,
  });
}

function parseMetadata(issuer: string, fields: Readonly<Record<string, unknown>>): ProviderMetadata {
  if (fields.issuer !== issuer) {
    // Everything in the document may be of any size and depth.
    const named = typeof fields.issuer === "string" ? JSON.stringify(fields.issuer.slice(0, 200)) : "nothing";
    throw new OidcError(
      "provider",
      `The provider names itself ${named}, but its configured issuer is "${issuer}".`,
    );
  }
  const url = (name: string) => {
    const text = fields[name];
    if (text === undefined) return undefined;
    const flaw = typeof text === "string" ? providerUrlFlaw(text) : "is not a string";
    if (flaw !== undefined) throw new OidcError("provider", `The provider's ${name} ${flaw}.`);
    return text as string;
  };
  const jwksUrl = url("jwks_uri");
  if (jwksUrl === undefined) throw new OidcError("provider", "The provider's configuration has no jwks_uri.");
  const methods = fields.token_endpoint_auth_methods_supported;
  return {
    issuer,
    jwksUrl,
    authorizationUrl: url("authorization_endpoint"),
    tokenUrl: url("token_endpoint"),
    userInfoUrl: url("userinfo_endpoint"),
    // The default of the specification.
    secretMethods: Array.isArray(methods) ? methods.filter(isText) : ["client_secret_basic"],
    namesIssuer: fields.authorization_response_iss_parameter_supported === true,
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
