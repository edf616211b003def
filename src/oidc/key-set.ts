// The signing keys of a provider (JWKS), cached. An unknown key causes a new load, because providers
// rotate their keys.
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { type CachedValue, createCachedValue } from "./cached-value.ts";
import type { ProviderMetadata } from "./discovery.ts";
import { fetchJson } from "./fetch-json.ts";
import { OidcError } from "./oidc-error.ts";

const maxAgeMilliseconds = 600_000;
const refreshMilliseconds = 30_000;

export function createKeySet(discovery: CachedValue<ProviderMetadata>, now: () => number): JWTVerifyGetKey {
  const keys = createCachedValue({
    load: async () => {
      const { jwksUrl } = await discovery.get();
      return parseKeys(await fetchJson({ url: jwksUrl, what: "key set" }));
    },
    maxAgeMilliseconds,
    refreshMilliseconds,
    now,
  });
  return async (header, token) => {
    const find = await keys.get();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      return (await keys.refresh())(header, token);
    }
  };
}

function parseKeys(fields: Readonly<Record<string, unknown>>) {
  try {
    return createLocalJWKSet(fields as unknown as Parameters<typeof createLocalJWKSet>[0]);
  } catch (cause) {
    throw new OidcError("provider", "The provider's key set is invalid.", { cause });
  }
}
