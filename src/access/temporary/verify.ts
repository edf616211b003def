// Verifies session tokens. Verified tokens are cached, because a client sends one with every request.
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import type { Scope } from "../decide.ts";
import { openPolicy } from "./session-policy.ts";
import { deriveSecret, macOf, maxLifetimeSeconds, splitToken, type UnverifiedToken } from "./token.ts";
import { parseTokenContent, type TokenContent } from "./token-content.ts";

/** A token that was signed with a secret of its issuer. It may have expired. */
export interface VerifiedToken {
  readonly content: TokenContent;
  readonly scope: Scope | undefined;
  /** The secret access key of the temporary credentials. */
  readonly secrets: readonly [string];
}

interface CacheEntry {
  readonly token: UnverifiedToken;
  readonly issuerSecret: string;
  readonly verified: VerifiedToken;
}

export interface TokenVerifier {
  /** Undefined if the text is not a token. Does not decode the content. */
  read(text: string): UnverifiedToken | undefined;
  /** Undefined if no secret of the issuer has signed the token, or if the content is invalid. */
  verify(token: UnverifiedToken, issuerSecrets: readonly string[]): VerifiedToken | undefined;
}

const maxCached = 1000;

export function createTokenVerifier(): TokenVerifier {
  /** Contains only tokens with a valid signature, so that forged tokens cannot displace them. */
  const cache = new Map<string, CacheEntry>();

  return {
    read: (text) => cache.get(text)?.token ?? splitToken(text),
    verify(token, issuerSecrets) {
      const cached = cache.get(token.text);
      if (cached !== undefined && issuerSecrets.includes(cached.issuerSecret)) return cached.verified;
      const issuerSecret = issuerSecrets.find((secret) => isEqual(macOf(secret, token.body), token.mac));
      if (issuerSecret === undefined) return undefined;
      const verified = open(token, issuerSecret);
      if (verified === undefined) return undefined;
      if (cache.size >= maxCached) cache.clear();
      cache.set(token.text, { token, issuerSecret, verified });
      return verified;
    },
  };
}

function open({ body }: UnverifiedToken, issuerSecret: string): VerifiedToken | undefined {
  const json = Buffer.from(body.slice(body.lastIndexOf(".") + 1), "base64url").toString("utf8");
  const content = parseTokenContent(json);
  if (content === undefined) return undefined;
  const { grants, issued, operations } = content;
  const policy = content.policy === undefined ? undefined : openPolicy(content.policy);
  if (content.policy !== undefined && policy === undefined) return undefined;
  const isLimited = grants !== undefined || policy !== undefined;
  const scope = isLimited
    ? { grants, issued, operations: operations && new Set(operations), policy }
    : undefined;
  return { content, scope, secrets: [deriveSecret(issuerSecret, body)] };
}

/** Both texts have the length of a signature. */
function isEqual(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Clocks of clients that make tokens may differ by this much. */
const skewMilliseconds = 15 * 60_000;

/** Returns why the token cannot be used now; undefined if it can. */
export function tokenFault(
  { issued, expires }: TokenContent,
  now: number,
): "expired" | "invalid" | undefined {
  if (expires <= now) return "expired";
  const isTooLong = expires - issued > maxLifetimeSeconds * 1000;
  return isTooLong || issued - now > skewMilliseconds ? "invalid" : undefined;
}
