// Verifies ID tokens: signature, issuer, audience, times and nonce. Only asymmetric signatures are
// accepted, so that a public key can never be used as a shared secret.
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { CachedValue } from "./cached-value.ts";
import { createDiscovery, type ProviderMetadata } from "./discovery.ts";
import { createKeySet } from "./key-set.ts";
import { OidcError } from "./oidc-error.ts";

/** The verified content of an ID token. */
export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  readonly audience: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly issued: number;
  /** All claims by name, as they are in the token. */
  readonly all: Readonly<Record<string, unknown>>;
}

export interface OidcVerifierOptions {
  /** URL of the provider, exactly as in its tokens. https, or http for localhost. */
  readonly issuer: string;
  /** Accepted audiences: client ids. The token must name at least one. */
  readonly audience: string | readonly string[];
  /** Client id that must be the authorized party, for tokens of a sign-in. Default: not checked. */
  readonly authorizedParty?: string | undefined;
  readonly now?: (() => number) | undefined;
  /** Shared with other users of the provider's configuration. */
  readonly discovery?: CachedValue<ProviderMetadata> | undefined;
}

export interface OidcVerifier {
  /** Throws OidcError. With `nonce`, the token must contain exactly this nonce. */
  verify(token: string, expected?: { readonly nonce?: string | undefined }): Promise<Claims>;
}

export const acceptedAlgorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
const clockToleranceSeconds = 60;
const maxTokenLength = 16 * 1024;

/** Throws a RangeError if the issuer cannot be used. */
export function createOidcVerifier(options: OidcVerifierOptions): OidcVerifier {
  const { issuer, now = Date.now } = options;
  const discovery = options.discovery ?? createDiscovery(issuer, now);
  const accepted = typeof options.audience === "string" ? [options.audience] : [...options.audience];
  if (accepted.length === 0 || accepted.includes("")) throw new RangeError("An audience must not be empty.");
  const keys = createKeySet(discovery, now);
  return {
    async verify(token, { nonce } = {}) {
      if (token.length > maxTokenLength) throw new OidcError("token", "The ID token is larger than 16 KiB.");
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: accepted,
        algorithms: acceptedAlgorithms,
        clockTolerance: clockToleranceSeconds,
        requiredClaims: ["sub", "exp", "iat"],
        currentDate: new Date(now()),
      }).catch((error: unknown) => {
        throw toOidcError(error);
      });
      if (nonce !== undefined && payload.nonce !== nonce)
        throw new OidcError("token", "The ID token belongs to another sign-in: its nonce differs.");
      if (options.authorizedParty !== undefined) checkParty(payload, options.authorizedParty);
      return toClaims(payload, now());
    },
  };
}

/** A token for several audiences must name this client as the party that asked for it. */
function checkParty({ aud, azp }: JWTPayload, client: string): void {
  const isOnly = typeof aud === "string" || aud?.length === 1;
  if (azp === client || (azp === undefined && isOnly)) return;
  throw new OidcError("token", "The ID token was issued to another client.");
}

function toClaims(payload: JWTPayload, now: number): Claims {
  const { iss, sub, aud, exp, iat, nbf } = payload;
  if (typeof sub !== "string" || sub === "") throw new OidcError("token", "The ID token has no subject.");
  if (![exp, iat, nbf ?? 0].every(isTime))
    throw new OidcError("token", "A time of the ID token is not valid.");
  if (iat! * 1000 > now + clockToleranceSeconds * 1000)
    throw new OidcError("token", "The ID token was issued in the future; check the clocks.");
  const audience = typeof aud === "string" ? [aud] : (aud ?? []);
  return {
    ...{ issuer: iss!, subject: sub, audience, expires: exp! * 1000, issued: iat! * 1000 },
    all: payload,
  };
}

/** Seconds since the epoch, until the year 5138: times with milliseconds and 1e308 are mistakes or attacks. */
function isTime(seconds: number | undefined): boolean {
  return Number.isSafeInteger(seconds) && seconds! >= 0 && seconds! < 1e11;
}

/** Messages by claim that is missing or has a wrong value. */
const claimMessages: Readonly<Record<string, string>> = {
  iss: "The ID token comes from another issuer.",
  aud: "The ID token is for another audience.",
  nbf: "The ID token is not valid yet; check the clocks.",
};

function toOidcError(error: unknown): unknown {
  if (error instanceof errors.JWTExpired)
    return new OidcError("token", "The ID token has expired.", { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim } = error;
    const message = claimMessages[claim] ?? `The claim "${claim}" of the ID token is missing or invalid.`;
    return new OidcError("token", message, { cause: error });
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new OidcError("token", "The ID token is signed with an algorithm that is not accepted.");
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return new OidcError("token", "The ID token is not signed with a key of the provider.");
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return new OidcError("token", "The signature of the ID token is wrong.");
  // WebCrypto refuses the key itself, such as a point that is not on its curve.
  if (error instanceof DOMException)
    return new OidcError("provider", "The provider's key for the ID token is invalid.", { cause: error });
  // Everything else of jose, and its TypeErrors for malformed tokens and keys.
  if (error instanceof errors.JOSEError || error instanceof TypeError)
    return new OidcError("token", "The ID token is malformed.", { cause: error });
  return error;
}
