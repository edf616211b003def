// Verifies the ID token of AssumeRoleWithWebIdentity against the providers that a role trusts.
import type { Role, TrustedProvider } from "../../access/temporary/roles.ts";
import { isFields } from "../../model/shape.ts";
import { OidcError } from "../../oidc/oidc-error.ts";
import { type Claims, createOidcVerifier, type OidcVerifier } from "../../oidc/verifier.ts";
import { StsError } from "./errors.ts";

export type VerifyWebIdentity = (role: Role, token: string) => Promise<Claims>;

export const maxTokenLength = 16 * 1024;
const maxVerifiers = 100;

export function createWebIdentity(now: () => number): VerifyWebIdentity {
  /** By issuer and audiences. A verifier caches the keys of its provider. */
  const verifiers = new Map<string, OidcVerifier>();

  function findVerifier({ issuer, audiences }: TrustedProvider): OidcVerifier {
    const name = JSON.stringify([issuer, audiences]);
    const existing = verifiers.get(name);
    if (existing !== undefined) return existing;
    const verifier = createOidcVerifier({ issuer, audience: audiences, now });
    if (verifiers.size >= maxVerifiers) verifiers.clear();
    verifiers.set(name, verifier);
    return verifier;
  }

  return async ({ trust }, token) => {
    if (token.length > maxTokenLength)
      throw new StsError("InvalidIdentityToken", "The web identity token is larger than 16 KiB.");
    const issuer = unverifiedIssuer(token);
    const trusted = trust.providers.filter((provider) => provider.issuer === issuer);
    // Only issuers in the configuration are asked for keys, never one that a token invents.
    if (trusted.length === 0) throw new StsError("AccessDenied", denied);
    let failure: unknown;
    for (const provider of trusted) {
      try {
        const claims = await findVerifier(provider).verify(token);
        if (hasClaims(claims, provider.claims)) return claims;
        failure ??= new StsError("AccessDenied", denied);
      } catch (error) {
        failure ??= toTokenError(error);
      }
    }
    throw failure;
  };
}

export const denied = "Not authorized to perform sts:AssumeRoleWithWebIdentity";

/** The issuer that the token names, only to choose the provider that verifies it. */
function unverifiedIssuer(token: string): string | undefined {
  try {
    const content: unknown = JSON.parse(
      Buffer.from(token.split(".", 3)[1] ?? "", "base64url").toString("utf8"),
    );
    return isFields(content) && typeof content.iss === "string" ? content.iss : undefined;
  } catch {
    throw new StsError("InvalidIdentityToken");
  }
}

/** A value that ends with `*` is a prefix. A claim with several values needs one that matches. */
function hasClaims({ all }: Claims, expected: TrustedProvider["claims"]): boolean {
  return Object.entries(expected).every(([name, value]) => {
    const claim = Object.hasOwn(all, name) ? all[name] : undefined;
    const given = Array.isArray(claim) ? claim : [claim];
    return given.some((one) => isText(one) && isMatch(String(one), value));
  });
}

function isText(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isMatch(given: string, expected: string): boolean {
  return expected.endsWith("*") ? given.startsWith(expected.slice(0, -1)) : given === expected;
}

function toTokenError(error: unknown): unknown {
  if (!(error instanceof OidcError)) return error;
  if (error.reason === "provider")
    return new StsError("IDPCommunicationError", error.message, { cause: error });
  const isExpired = isFields(error.cause) && error.cause.code === "ERR_JWT_EXPIRED";
  return new StsError(isExpired ? "ExpiredTokenException" : "InvalidIdentityToken", error.message);
}
